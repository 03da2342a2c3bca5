// env: MONO_GC_PARAMS=max-heap-size=192m,major=marksweep
// timeout: 120
// Large arrays come and go far beyond what the heap may hold at once: none is leaked, none is reused too early.
using System;
using System.Threading;

static class LargeArrays
{
    static byte[][] ring = new byte[12][];
    static object[][] references = new object[4][];

    static void Elsewhere(ThreadStart work) { var t = new Thread(work); t.Start(); t.Join(); GC.Collect(); }

    static long made;
    static void Rings()
    {
        for (int i = 0; i < 1000; i++) {
            var a = new byte[100000 + i % 37 * 30000];
            for (int k = 0; k < a.Length; k += 4096) if (a[k] != 0) throw new Exception("not clear");
            for (int k = 0; k < a.Length; k += 4096) a[k] = (byte)(i + k / 4096);
            int at = i % ring.Length;
            var old = ring[at];
            if (old != null)
                for (int k = 0; k < old.Length; k += 4096)
                    if (old[k] != (byte)(i - ring.Length + k / 4096)) throw new Exception("wrong content");
            ring[at] = a;
            made += a.Length;
            if (i % 10 == 0) {
                // Young objects reachable only from a large array of references.
                var r = new object[100000];
                for (int k = 0; k < r.Length; k += 100) r[k] = k;
                for (int k = 50; k < r.Length; k += 1000) r[k] = "s" + k;
                var before = references[i / 10 % references.Length];
                if (before != null)
                    for (int k = 0; k < before.Length; k += 100)
                        if ((int)before[k] != k) throw new Exception("wrong reference");
                references[i / 10 % references.Length] = r;
            }
        }
        Array.Clear(ring, 0, ring.Length);
        Array.Clear(references, 0, references.Length);
    }

    static void Numbers()
    {
        for (int i = 0; i < 600; i++) {
            var d = new double[100000];
            d[99999] = i;
            if (d[0] != 0) throw new Exception("not clear");
        }
    }

    // A sparse one, a jagged one and one of several dimensions, replaced many times.
    static void Dimensions()
    {
        for (int i = 0; i < 100; i++) {
            var square = new int[500, 500];
            square[499, 499] = i;
            var jagged = new int[500][];
            for (int k = 0; k < jagged.Length; k++) jagged[k] = new int[k];
            if (square[0, 0] != 0 || jagged[499].Length != 499) throw new Exception("wrong shape");
        }
    }

    static void Main()
    {
        Elsewhere(Rings);
        Console.WriteLine(made > 500000000);       // expect: True
        Elsewhere(Numbers);
        Elsewhere(Dimensions);
        Console.WriteLine("done");                  // expect: done
    }
}
