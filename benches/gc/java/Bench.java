// The Java side of the comparison: `Bench NAME [ARGUMENT]` runs the work of the C# program of that name.
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

public final class Bench {
    static void check(boolean right, String what) {
        if (right) return;
        System.err.println("wrong result: " + what);
        System.exit(1);
    }

    static void figure(String name, Runnable work) {
        long start = System.nanoTime();
        work.run();
        System.out.println(String.format(Locale.ROOT, "%s %.3f s", name, (System.nanoTime() - start) / 1e9));
    }

    // The same numbers as on the other runtimes.
    static final class Numbers {
        private long state;
        Numbers(long seed) { state = seed * 2685821657736338717L + 88172645463325252L; }
        long next() {
            state ^= state << 13; state ^= state >>> 7; state ^= state << 17;
            return state;
        }
        int below(int limit) { return (int) ((next() >>> 33) % limit); }
    }

    // ---- binary trees -------------------------------------------------------------------------------------------

    static final class Tree {
        Tree left, right;
        static Tree make(int depth) {
            Tree t = new Tree();
            if (depth > 0) { t.left = make(depth - 1); t.right = make(depth - 1); }
            return t;
        }
        int count() { return left == null ? 1 : 1 + left.count() + right.count(); }
    }

    static void binaryTrees(int depth) {
        check(Tree.make(depth + 1).count() == (1 << (depth + 2)) - 1, "the first tree");
        Tree kept = Tree.make(depth);
        for (int d = 4; d <= depth; d += 4) {
            int trees = 1 << (depth - d + 4);
            long nodes = 0;
            for (int i = 0; i < trees; i++) nodes += Tree.make(d).count();
            check(nodes == trees * (long) ((1 << (d + 1)) - 1), "the trees of depth " + d);
        }
        check(kept.count() == (1 << (depth + 1)) - 1, "the tree that was kept");
    }

    // ---- hash map -----------------------------------------------------------------------------------------------

    static final class Entry {
        final int key;
        Entry(int key) { this.key = key; }
    }

    static void hashMap(int live, int count) {
        Map<Integer, Entry> map = new HashMap<>();
        for (int i = 0; i < count; i++) {
            int key = (int) (i * 2654435761L);
            map.put(key, new Entry(key));
            if (i >= live) {
                int old = (int) ((i - live) * 2654435761L);
                Entry e = map.get(old);
                check(e != null && e.key == old, "an entry that was put in");
                map.remove(old);
            }
            if (i % (live * 2) == live) map = new HashMap<>(map);
        }
        check(map.size() == live, "the number of entries");
        for (Map.Entry<Integer, Entry> pair : map.entrySet()) check(pair.getValue().key == pair.getKey(), "each entry at its key");
    }

    // ---- 1 GB live ----------------------------------------------------------------------------------------------

    static final int DEPTH = 9, REPLACED = 3;

    static final class Node {
        Node left, right;
        long value, a, b, c;
        Node(long value) { this.value = value; a = value ^ 0x5555; b = -value; c = value * 3; }
        int count() {
            check(a == (value ^ 0x5555) && b == -value && c == value * 3, "a node's content");
            return left == null ? 1 : 1 + left.count() + right.count();
        }
    }

    static long next;

    static Node make(int depth) {
        Node n = new Node(next++);
        if (depth > 0) { n.left = make(depth - 1); n.right = make(depth - 1); }
        return n;
    }

    static Node walk(Node n, long path) {
        for (int d = DEPTH; d > REPLACED + 1; d--) { n = (path & 1) == 0 ? n.left : n.right; path >>>= 1; }
        return n;
    }

    static void mutate(Node[] roots, int steps, Numbers numbers) {
        for (int i = 0; i < steps; i++) {
            Node a = walk(roots[numbers.below(roots.length)], numbers.next());
            Node b = walk(roots[numbers.below(roots.length)], numbers.next());
            Node t = a.left; a.left = b.right; b.right = t;
            next = i;
            a.right = make(REPLACED);
        }
    }

    static void liveGraph(int trees, int steps) {
        Node[] roots = new Node[trees];
        Numbers numbers = new Numbers(7);
        figure("live-graph-build", () -> { for (int i = 0; i < trees; i++) roots[i] = make(DEPTH); });
        figure("live-graph-change", () -> mutate(roots, steps, numbers));
        long nodes = 0;
        for (Node root : roots) nodes += root.count();
        check(nodes == trees * (long) ((1 << (DEPTH + 1)) - 1), "the number of nodes");
    }

    static int argument(String[] args, int index, int otherwise) {
        return index < args.length ? Integer.parseInt(args[index]) : otherwise;
    }

    public static void main(String[] args) {
        switch (args.length == 0 ? "" : args[0]) {
            case "BinaryTrees": {
                int depth = argument(args, 1, 18);
                figure("binary-trees-" + depth, () -> binaryTrees(depth));
                break;
            }
            case "HashMap":
                figure("hash-map", () -> hashMap(argument(args, 1, 1000000), argument(args, 2, 15000000)));
                break;
            case "LiveGraph":
                liveGraph(argument(args, 1, 16384), argument(args, 2, 1000000));
                break;
            default:
                System.err.println("no such program");
                System.exit(2);
        }
    }
}
