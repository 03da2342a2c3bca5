// timeout: 120
// mcs: -unsafe
// gc-debug: no, it counts what a thread does while collections wait for it
// A thread that copies arrays all the time is stopped for collections soon, whatever the size of the copies: it makes few while one waits.
using System;
using System.Threading;

static class CopiesAreStopped
{
    static volatile bool stop;
    static long copies;

    // How many copies a thread makes during a collection, in the middle of so many.
    static unsafe long DuringCollections(int bytes, int way)
    {
        var from = new byte[bytes];
        var to = new byte[bytes];
        stop = false;
        copies = 0;
        var thread = new Thread(() => {
            fixed (byte* source = from)
            fixed (byte* dest = to)
                while (!stop) {
                    if (way == 0) Buffer.BlockCopy(from, 0, to, 0, bytes);
                    else if (way == 1) Array.Copy(from, 0, to, 0, bytes);
                    else Buffer.MemoryCopy(source, dest, bytes, bytes);
                    Volatile.Write(ref copies, copies + 1);
                }
        });
        thread.Start();
        while (Volatile.Read(ref copies) < 1000) Thread.Sleep(1);
        var during = new long[15];
        for (int i = 0; i < during.Length; i++) {
            long before = Volatile.Read(ref copies);
            GC.Collect(0);
            during[i] = Volatile.Read(ref copies) - before;
            Thread.Sleep(1);
        }
        stop = true;
        thread.Join();
        Array.Sort(during);
        return during[during.Length / 2];
    }
    static void Main()
    {
        // 64 bytes are copied in some ns, and 100,000 in some us.
        foreach (int bytes in new[] { 64, 1000, 5000, 16000, 20000, 60000, 400000 })
            for (int way = 0; way < 3; way++) {
                long during = DuringCollections(bytes, way);
                long megabytes = during * bytes >> 20;
                if (megabytes > 200) Console.WriteLine("{0} copies of {1} bytes during a collection ({2})", during, bytes, way);
            }
        Console.WriteLine("done"); // expect: done
    }
}
