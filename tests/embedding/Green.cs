// Green threads whose native functions and internal calls call the embedding API several times each.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

public static class Green
{
    [DllImport("__Internal")]
    static extern void native_work(int n, Action delegated);
    [MethodImpl(MethodImplOptions.InternalCall)]
    static extern string internal_work(int n);

    static readonly object gate = new object();
    static int calls, done;

    public static void Back()
    {
        Interlocked.Increment(ref calls);
        lock (gate) Thread.Sleep(1);
        object made = null;
        for (int i = 0; i < 200; i++) made = new byte[100];
        GC.KeepAlive(made);
        Thread.Yield();
    }

    public static int Run(int threads)
    {
        var all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int me = i;
            all[i] = new Thread(() => {
                for (int k = 0; k < 4; k++) {
                    if (me % 2 == 0) native_work(me, Back);
                    else if (internal_work(me) != "made by the host") throw new Exception("another string");
                }
                Interlocked.Increment(ref done);
            });
            all[i].Start();
        }
        foreach (var thread in all) thread.Join();
        return calls * 1000 + done;
    }
}
