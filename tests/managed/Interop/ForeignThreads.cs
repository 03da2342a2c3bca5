// cc: -pthread
// Threads that a library made call managed code, which nobody has called before: eight at once, with class constructors
// and collections to be had; then threads with stacks as small as libraries make them; then many, one after the other.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class ForeignThreads
{
    delegate int Callback(int i);
    [DllImport("ForeignThreads")] static extern int call_at_once(Callback function, int count);
    [DllImport("ForeignThreads")] static extern int call_with_stack(Callback function, int kilobytes);

    static class Cold
    {
        public static readonly Dictionary<string, int> Table = new Dictionary<string, int>(100);
        static Cold() { for (int i = 0; i < 100; i++) Table["key " + i] = i; Thread.Sleep(1); }
    }

    static int FirstCalls(int i)
    {
        var text = new StringBuilder();
        if (i % 2 == 0) foreach (var n in new HashSet<int>(Enumerable.Range(0, 50))) text.AppendFormat("{0:x} ", n);
        else { var h = new Hashtable(); for (int k = 0; k < 50; k++) h[k] = k + "x"; text.Append(h.Count); }
        lock (typeof(Cold)) text.Append(Thread.CurrentThread.ManagedThreadId);
        if (i == 3) GC.Collect();
        return text.Length > 0 ? Cold.Table["key " + i] : -1000;
    }

    static int Small(int kilobytes)
    {
        var table = new Dictionary<string, object>();
        for (int i = 0; i < 200; i++) table["key " + i] = new int[i];
        try { throw new InvalidOperationException("inside"); } catch (InvalidOperationException e) { if (e.Message != "inside") return -1; }
        return table.Count == 200 ? kilobytes : -1;
    }

    static int live;
    static int Once(int i)
    {
        kept = new object[100];
        return Interlocked.Increment(ref live);
    }
    [ThreadStatic] static object[] kept;

    static void Main()
    {
        Console.WriteLine(call_at_once(FirstCalls, 8));             // expect: 28
        Callback small = Small;
        foreach (int kilobytes in new[] { 8192, 1024, 384, 320, 256, 128 })
            Console.Write(call_with_stack(small, kilobytes) + " ");
        Console.WriteLine();                                        // expect: 8192 1024 384 320 256 128 
        Callback once = Once;
        for (int i = 0; i < 500; i++) call_at_once(once, 4);
        Console.WriteLine(live);                                    // expect: 2000
        GC.KeepAlive(small);
        GC.KeepAlive(once);
    }
}
