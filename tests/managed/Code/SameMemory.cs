// mcs: -unsafe
// What is compared with itself is not read.
using System;

static unsafe class SameMemory
{
    static string Compare(void* a, void* b, int n)
    {
        try { return new ReadOnlySpan<byte>(a, n).SequenceEqual(new ReadOnlySpan<byte>(b, n)).ToString(); }
        catch (NullReferenceException) { return "null"; }
    }

    static void Main()
    {
        byte* here = stackalloc byte[64];
        for (int round = 0; round < 300; round++)
            foreach (int n in new[] { 0, 1, 2, 3, 4, 7, 8, 16, 17, 32, 33, 64 }) {
                string all = Compare(null, null, n) + " " + Compare(here, here, n) + " " + Compare(here, null, n) + " " + Compare((void*)8, (void*)8, n);
                if (round == 0 || round == 299) Console.WriteLine(n + " " + all);
            }
    }
}
