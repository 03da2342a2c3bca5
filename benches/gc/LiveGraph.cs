// How long it takes to build, change and walk 1 GB of live objects (see Graph.cs).
using System;

static class LiveGraph
{
    static void Main(string[] args)
    {
        int trees = Bench.Argument(args, 0, Graph.Trees), steps = Bench.Argument(args, 1, 1000000);
        var numbers = new Numbers(7);
        Graph.Node[] roots = null;
        double build = Bench.Seconds(() => roots = Graph.Build(trees));
        double change = Bench.Seconds(() => Graph.Mutate(roots, steps, ref numbers));
        Graph.CheckAll(roots);
        Bench.Figure("live-graph-build", build, "s");
        Bench.Figure("live-graph-change", change, "s");
    }
}
