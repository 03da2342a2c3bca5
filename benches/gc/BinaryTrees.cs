// Binary trees: one long-lived tree of the given depth while many short-lived ones of all depths are built and counted.
using System;

static class BinaryTrees
{
    sealed class Tree
    {
        Tree left, right;
        public static Tree Make(int depth)
        {
            var t = new Tree();
            if (depth > 0) { t.left = Make(depth - 1); t.right = Make(depth - 1); }
            return t;
        }
        public int Count() { return left == null ? 1 : 1 + left.Count() + right.Count(); }
    }

    static void Run(int depth)
    {
        Bench.Check(Tree.Make(depth + 1).Count() == (1 << (depth + 2)) - 1, "the first tree");
        var kept = Tree.Make(depth);
        for (int d = 4; d <= depth; d += 4) {
            int trees = 1 << (depth - d + 4);
            long nodes = 0;
            for (int i = 0; i < trees; i++) nodes += Tree.Make(d).Count();
            Bench.Check(nodes == trees * (long)((1 << (d + 1)) - 1), "the trees of depth " + d);
        }
        Bench.Check(kept.Count() == (1 << (depth + 1)) - 1, "the tree that was kept");
    }

    static void Main(string[] args)
    {
        int depth = Bench.Argument(args, 0, 18);
        Bench.Figure("binary-trees-" + depth, Bench.Seconds(() => Run(depth)), "s");
    }
}
