// A heap whose shape is known: tests/profiler.sh looks at its heapshots.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Node { public Node Next; public byte[] Data = new byte[100]; }
class Finalized { ~Finalized() { Shot.Finish(); } }
class Key { }
class Value { }
class Wide { public object[] All; }
class Handled { }
class OfThread { }
class OfStack { }

static class Shot {
    static Node list;
    static Wide wide;
    [ThreadStatic] static OfThread mine;
    static readonly ConditionalWeakTable<Key, Value> table = new ConditionalWeakTable<Key, Value>();
    static readonly Key key = new Key();
    static readonly ManualResetEvent go = new ManualResetEvent(false);

    public static void Finish() { go.WaitOne(); }

    // Frames of their own: what they used is no root any more.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make() {
        for (int i = 0; i < 1000; i++) list = new Node { Next = list };
        wide = new Wide { All = new object[5000] };
        for (int i = 0; i < 5000; i++) wide.All[i] = new Finalized();
        mine = new OfThread();
        table.Add(key, new Value());
        GCHandle.Alloc(new Handled());
        GCHandle.Alloc(new byte[7], GCHandleType.Pinned);
    }
    static int Main(string[] args) {
        Make();
        var ready = new ManualResetEvent(false);
        var thread = new Thread(() => {
            var local = new OfStack();
            ready.Set();
            go.WaitOne();
            GC.KeepAlive(local);
        });
        thread.Start();
        ready.WaitOne();
        GC.Collect();
        for (int i = 0; i < 10; i++) new Node();
        wide.All = null;
        GC.Collect();
        if (args.Length > 0) {
            Console.WriteLine("waits");
            Console.ReadLine();
        }
        go.Set();
        thread.Join();
        GC.KeepAlive(mine);
        Console.WriteLine("done");
        return 0;
    }
}
