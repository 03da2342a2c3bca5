// A forest of 1 GB that changes, in Go: the work of Graph.cs and LiveGraph.cs.
package main

type node struct {
	left, right       *node
	value, a, b, c, d int64 // d stands for the header that the others have
}

const graphDepth, replaced = 9, 3

func makeNode(depth int, value *int64) *node {
	n := &node{value: *value, a: *value ^ 0x5555, b: -*value, c: *value * 3}
	*value++
	if depth > 0 {
		n.left, n.right = makeNode(depth-1, value), makeNode(depth-1, value)
	}
	return n
}

func buildGraph(trees int) []*node {
	roots, value := make([]*node, trees), int64(0)
	for i := range roots {
		roots[i] = makeNode(graphDepth, &value)
	}
	return roots
}

func walk(n *node, path uint64) *node {
	for d := graphDepth; d > replaced+1; d-- {
		if path&1 == 0 {
			n = n.left
		} else {
			n = n.right
		}
		path >>= 1
	}
	return n
}

func mutate(roots []*node, steps int, r *numbers) {
	for i := 0; i < steps; i++ {
		a := walk(roots[r.below(len(roots))], r.next())
		b := walk(roots[r.below(len(roots))], r.next())
		a.left, b.right = b.right, a.left
		value := int64(i)
		a.right = makeNode(replaced, &value)
	}
}

func (n *node) count() int {
	check(n.a == n.value^0x5555 && n.b == -n.value && n.c == n.value*3, "a node's content")
	if n.left == nil {
		return 1
	}
	return 1 + n.left.count() + n.right.count()
}

func checkGraph(roots []*node) {
	nodes := 0
	for _, root := range roots {
		nodes += root.count()
	}
	check(nodes == len(roots)*(1<<(graphDepth+1)-1), "the number of nodes")
}
