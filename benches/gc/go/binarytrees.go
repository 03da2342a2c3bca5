// Binary trees in Go: the work of BinaryTrees.cs.
package main

type tree struct{ left, right *tree }

func makeTree(depth int) *tree {
	t := &tree{}
	if depth > 0 {
		t.left, t.right = makeTree(depth-1), makeTree(depth-1)
	}
	return t
}

func (t *tree) count() int {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

func binaryTrees(depth int) {
	check(makeTree(depth+1).count() == 1<<(depth+2)-1, "the first tree")
	kept := makeTree(depth)
	for d := 4; d <= depth; d += 4 {
		trees, nodes := 1<<(depth-d+4), 0
		for i := 0; i < trees; i++ {
			nodes += makeTree(d).count()
		}
		check(nodes == trees*(1<<(d+1)-1), "the trees of a depth")
	}
	check(kept.count() == 1<<(depth+1)-1, "the tree that was kept")
}
