// An object that only native code has is kept from the moment at which its interface is asked for, whenever the collector runs.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

public class Served { public int Number; }

static class ComInterfacesWhileCollecting {
    static volatile bool stop;
    [MethodImpl(MethodImplOptions.NoInlining)] static IntPtr Make(int i) { return Marshal.GetIUnknownForObject(new Served { Number = i }); }
    static void Main() {
        var collector = new Thread(() => { while (!stop) GC.Collect(0); });
        collector.Start();
        int bad = 0;
        for (int i = 0; i < 60000; i++) {
            var at = Make(i);
            var o = (Served)Marshal.GetObjectForIUnknown(at);
            if (o.Number != i) bad++;
            Marshal.Release(at);
        }
        stop = true;
        collector.Join();
        Console.WriteLine("bad " + bad); // expect: bad 0
    }
}
