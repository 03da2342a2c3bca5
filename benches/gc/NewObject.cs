// The cost of the smallest allocation: 100 million `new object()`, each stored to a static field.
using System;

static class NewObject
{
    static object last;

    static void Allocate(int count)
    {
        for (int i = 0; i < count; i++) last = new object();
    }

    static void Main(string[] args)
    {
        int count = Bench.Argument(args, 0, 100000000);
        Allocate(count / 10);
        int before = GC.CollectionCount(0);
        double seconds = Bench.Seconds(() => Allocate(count));
        Bench.Check(last != null && last.GetType() == typeof(object), "the static holds the last object");
        Bench.Check(count < 100000000 || GC.CollectionCount(0) > before, "there was a collection");
        Bench.Figure("new-object", seconds * 1e9 / count, "ns");
    }
}
