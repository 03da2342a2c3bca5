// The Go side of the comparison: the work of Green.cs, Echo.cs and the servers on goroutines.
//
//	greenbench switch SECONDS | park COUNT | echo CONNECTIONS ROUNDTRIPS | http PORT | nethttp PORT
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const frames, batch = 1000, 1000

func check(right bool, what string) {
	if !right {
		fmt.Fprintln(os.Stderr, "wrong result:", what)
		os.Exit(1)
	}
}

func number(index int) float64 {
	check(index < len(os.Args), "more arguments")
	n, err := strconv.ParseFloat(os.Args[index], 64)
	check(err == nil, "an argument that is a number")
	return n
}

func figure(name string, value float64, unit string) { fmt.Printf("%s %.3f %s\n", name, value, unit) }

// Makes ever more rounds until they take long enough. Prints what one of as many takes.
func measure(name string, target float64, processors int, rounds func(count int)) {
	seconds := func(count int) float64 {
		start := time.Now()
		rounds(count)
		return time.Since(start).Seconds()
	}
	count := 200.0
	s := seconds(int(count))
	for s < target/2 && count < 1e9 {
		count *= max(2, min(10, target/s))
		s = seconds(int(count))
	}
	figure(name, seconds(int(count))*1e9*float64(processors)/count, "ns")
}

// Runs `work` on `parties` goroutines, each with its number.
func together(parties int, work func(me int)) {
	var all sync.WaitGroup
	all.Add(parties)
	for i := 0; i < parties; i++ {
		go func(me int) { work(me); all.Done() }(i)
	}
	all.Wait()
}

func yield(count, parties int) {
	together(parties, func(int) {
		for i := count / parties; i > 0; i-- {
			runtime.Gosched()
		}
	})
}

func spawn(count int) {
	var left atomic.Int32
	done := make(chan bool)
	for count > 0 {
		n := min(count, batch)
		left.Store(int32(n))
		for i := 0; i < n; i++ {
			go func() {
				if left.Add(-1) == 0 {
					done <- true
				}
			}()
		}
		<-done
		count -= n
	}
}

func spawnAndWait(count int) {
	ran := 0
	var end sync.WaitGroup
	for i := 0; i < count; i++ {
		end.Add(1)
		go func() { ran++; end.Done() }()
		end.Wait()
	}
	check(ran == count, "every goroutine ran")
}

//go:noinline
func recurse(left int, arrived chan bool, gate chan bool) int {
	if left > 1 {
		return recurse(left-1, arrived, gate) + 1
	}
	if gate != nil {
		arrived <- true
		<-gate
	}
	return 1
}

func deep(count int) {
	sum := 0
	var end sync.WaitGroup
	for i := 0; i < count; i++ {
		end.Add(1)
		go func() { sum += recurse(frames, nil, nil) / frames; end.Done() }()
		end.Wait()
	}
	check(sum == count, "all frames returned")
}

func deepAtOnce(count int) {
	arrived, gate := make(chan bool), make(chan bool)
	var end sync.WaitGroup
	end.Add(count)
	for i := 0; i < count; i++ {
		go func() {
			check(recurse(frames, arrived, gate) == frames, "all frames returned")
			end.Done()
		}()
	}
	for i := 0; i < count; i++ {
		<-arrived
	}
	close(gate)
	end.Wait()
}

func pingPong(count, pairs int) {
	balls := make([]chan bool, 2*pairs)
	for i := range balls {
		balls[i] = make(chan bool)
	}
	together(len(balls), func(me int) {
		mine, other := balls[me], balls[me^1]
		for i := count / pairs; i > 0; i-- {
			if me%2 == 0 {
				other <- true
				<-mine
			} else {
				<-mine
				other <- true
			}
		}
	})
}

//go:noinline
func fail(frames int) int {
	if frames > 1 {
		return fail(frames-1) + 1
	}
	runtime.Gosched()
	panic("thrown")
}

// A panic is what Go has of exceptions.
func throw(count, frames int) {
	caught := 0
	for i := 0; i < count; i++ {
		func() {
			defer func() {
				if recover() != nil {
					caught++
				}
			}()
			fail(frames)
		}()
	}
	check(caught == count, "every panic was caught")
}

func switches(target float64) {
	processors := runtime.GOMAXPROCS(0)
	deepAtOnce(1)
	start := time.Now()
	deepAtOnce(batch)
	figure("deep-new", time.Since(start).Seconds()*1e9/batch, "ns")
	measure("yield", target, processors, func(count int) { yield(count, 4*processors) })
	measure("spawn", target, 1, spawn)
	measure("spawn-wait", target, 1, spawnAndWait)
	measure("deep-reused", target, 1, deep)
	measure("ping-pong-1", target, 1, func(count int) { pingPong(count, 1) })
	measure("ping-pong-64", target, 1, func(count int) { pingPong(count, 64) })
	measure("throw-10", target, 1, func(count int) { throw(count, 10) })
	measure("throw-100", target, 1, func(count int) { throw(count, 100) })
}

func resident() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	check(err == nil, "memory")
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	check(err == nil, "memory")
	return float64(pages * os.Getpagesize())
}

func park(count int) {
	var here atomic.Int64
	all, gate := make(chan bool), make(chan bool)
	n := float64(count)
	before, start := resident(), time.Now()
	for i := 0; i < count; i++ {
		go func() {
			if here.Add(1) == int64(count) {
				all <- true
			}
			<-gate
			if here.Add(-1) == 0 {
				all <- true
			}
		}()
	}
	<-all
	seconds := time.Since(start).Seconds()
	time.Sleep(500 * time.Millisecond)
	figure("park-start", seconds*1e6/n, "us")
	figure("park-memory", (resident()-before)/n, "B")
	runtime.GC()
	time.Sleep(2 * time.Second)
	figure("park-memory-later", (resident()-before)/n, "B")
	start = time.Now()
	close(gate)
	<-all
	figure("park-end", time.Since(start).Seconds()*1e6/n, "us")
}

func main() {
	what := ""
	if len(os.Args) > 1 {
		what = os.Args[1]
	}
	switch what {
	case "switch":
		switches(number(2))
	case "park":
		park(int(number(2)))
	case "echo":
		echo(int(number(2)), int(number(3)))
	case "http":
		serve(int(number(2)))
	case "nethttp":
		serveNetHTTP(int(number(2)))
	default:
		fmt.Fprintln(os.Stderr, "usage: greenbench switch SECONDS | park COUNT | echo CONNECTIONS ROUNDTRIPS | http PORT | nethttp PORT")
		os.Exit(2)
	}
}
