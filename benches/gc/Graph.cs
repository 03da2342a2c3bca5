// A forest of 1 GB, alive all the time, that changes: small subtrees are built anew, and equal ones change places.
//
// 16,384 trees of 1,023 nodes; a node is 64 bytes where the header takes 16. The number of nodes never changes, and
// neither does the sum over the roots of how often each node was seen: that is checked at the end.
using System;

static class Graph
{
    public sealed class Node
    {
        public Node Left, Right;
        public long Value, A, B, C;

        public static Node Make(int depth, ref long value)
        {
            var n = new Node { Value = value };
            n.A = n.Value ^ 0x5555; n.B = -n.Value; n.C = n.Value * 3;
            value++;
            if (depth > 0) { n.Left = Make(depth - 1, ref value); n.Right = Make(depth - 1, ref value); }
            return n;
        }
        public bool Right3() { return A == (Value ^ 0x5555) && B == -Value && C == Value * 3; }
    }

    public const int Depth = 9, Trees = 16384, Replaced = 3;

    public static Node[] Build(int trees)
    {
        var roots = new Node[trees];
        long value = 0;
        for (int i = 0; i < trees; i++) roots[i] = Node.Make(Depth, ref value);
        return roots;
    }

    // The parent of a subtree of depth `Replaced`, found by the bits of `path`.
    static Node Walk(Node n, ulong path)
    {
        for (int d = Depth; d > Replaced + 1; d--) { n = (path & 1) == 0 ? n.Left : n.Right; path >>= 1; }
        return n;
    }

    public static void Mutate(Node[] roots, int steps, ref Numbers numbers)
    {
        for (int i = 0; i < steps; i++) {
            var a = Walk(roots[numbers.Below(roots.Length)], numbers.Next());
            var b = Walk(roots[numbers.Below(roots.Length)], numbers.Next());
            var t = a.Left; a.Left = b.Right; b.Right = t;
            long value = i;
            a.Right = Node.Make(Replaced, ref value);
        }
    }

    public static long Count(Node n)
    {
        Bench.Check(n.Right3(), "a node's content");
        return n.Left == null ? 1 : 1 + Count(n.Left) + Count(n.Right);
    }

    public static void CheckAll(Node[] roots)
    {
        long count = 0;
        foreach (var root in roots) count += Count(root);
        Bench.Check(count == roots.Length * (long)((1 << (Depth + 1)) - 1), "the number of nodes");
    }
}
