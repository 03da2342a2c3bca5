// The Go side of the comparison: `bench NAME [ARGUMENT]` runs one of the programs and prints its figures.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func check(right bool, what string) {
	if !right {
		fmt.Fprintln(os.Stderr, "wrong result:", what)
		os.Exit(1)
	}
}

func figure(name string, work func()) {
	start := time.Now()
	work()
	fmt.Printf("%s %.3f s\n", name, time.Since(start).Seconds())
}

// The same numbers as on the other runtimes.
type numbers uint64

func newNumbers(seed uint64) numbers { return numbers(seed*2685821657736338717 + 88172645463325252) }
func (r *numbers) next() uint64 {
	x := uint64(*r)
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	*r = numbers(x)
	return x
}
func (r *numbers) below(limit int) int { return int((r.next() >> 33) % uint64(limit)) }

func argument(index, otherwise int) int {
	if index < len(os.Args) {
		n, err := strconv.Atoi(os.Args[index])
		check(err == nil, "an argument that is a number")
		return n
	}
	return otherwise
}

func main() {
	check(len(os.Args) > 1, "a name")
	switch os.Args[1] {
	case "BinaryTrees":
		depth := argument(2, 18)
		figure("binary-trees-"+strconv.Itoa(depth), func() { binaryTrees(depth) })
	case "HashMap":
		live, count := argument(2, 1000000), argument(3, 15000000)
		figure("hash-map", func() { hashMap(live, count) })
	case "LiveGraph":
		trees, steps, r := argument(2, 16384), argument(3, 1000000), newNumbers(7)
		var roots []*node
		figure("live-graph-build", func() { roots = buildGraph(trees) })
		figure("live-graph-change", func() { mutate(roots, steps, &r) })
		checkGraph(roots)
	default:
		fmt.Fprintln(os.Stderr, "no such program:", os.Args[1])
		os.Exit(2)
	}
}
