// What the runtime's own searches, comparisons and sorts must leave as it is in IL: bad addresses throw, spans may lie at any address, and a race gives a badly
// ordered array, or mono's ArgumentException, at worst.
using System;
using System.Runtime.InteropServices;
using System.Threading;

unsafe class LibraryRoutineEdges
{
    static readonly int[] shared = new int[200];
    static volatile bool stop;

    static void Throws (string what, Action action)
    {
        try {
            action ();
            Console.WriteLine (what + ": nothing");
        } catch (Exception e) {
            Console.WriteLine (what + ": " + e.GetType ().Name);
        }
    }

    static void Main ()
    {
        Throws ("bytes near null", () => new Span<byte> ((void*) 16, 64).IndexOf ((byte) 1));
        Throws ("bytes at null", () => new Span<byte> ((void*) 0, 64).IndexOf ((byte) 1));
        Throws ("characters near null", () => new Span<char> ((void*) 16, 64).IndexOf ('a'));
        Throws ("a comparison with null", () => new Span<byte> ((void*) 0, 64).SequenceEqual (new byte[64]));

        var bytes = new byte[400];
        bytes[201] = 5;
        Console.WriteLine (MemoryMarshal.Cast<byte, char> (new Span<byte> (bytes).Slice (1, 300)).IndexOf ((char) 5));

        var writer = new Thread (() => {
            for (uint x = 1; !stop; )
                for (int i = 0; i < shared.Length; i++)
                    shared[i] = (int) (x = x * 1664525 + 1013904223);
        });
        writer.Start ();
        for (int n = 0; n < 3000; n++)
            try {
                Array.Sort (shared);
            } catch (ArgumentException) {
                // Mono may notice that elements changed.
            }
        stop = true;
        writer.Join ();
        Console.WriteLine ("sorted");
    }
}
