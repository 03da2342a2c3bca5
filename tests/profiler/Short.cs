// 2,048 threads that make 7 KiB of objects each, 14.8 MiB with what the threads themselves take: tests/profiler.sh compares what the report estimates.
using System.Runtime.CompilerServices;
using System.Threading;

class Piece { public long A, B, C, D, E, F; }

static class Short {
    static Piece last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Work() {
        for (int i = 0; i < 128; i++) last = new Piece();
    }
    static int Main() {
        for (int i = 0; i < 2048; i++) {
            var thread = new Thread(Work);
            thread.Start();
            thread.Join();
        }
        return last == null ? 1 : 0;
    }
}
