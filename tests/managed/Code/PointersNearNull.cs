// mcs: -unsafe -optimize- -nowarn:0219
// A pointer that is not null may point to the page of null: what reads there throws, also if nothing uses what was read.
using System;
using System.Runtime.CompilerServices;

static unsafe class PointersNearNull
{
    [MethodImpl(MethodImplOptions.NoInlining)] static int Tested(int* p) { if (p != null) { int x = *p; } return 1; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int InLoop(int* p, int n) { int s = 0; for (int i = 0; i < n; i++) { if (p == null) continue; int x = *p; s++; } return s; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Used(int* p) { return p != null ? *p : 2; }
    static string Caught(Func<int> f) { try { return f().ToString(); } catch (NullReferenceException) { return "null"; } }

    static void Main()
    {
        int here = 7; int* good = &here;
        foreach (long at in new[] { 0L, 8, 4000, (long)good })
            for (int round = 0; round < 3; round++) {
                string a = null, b = null, c = null;
                for (int i = 0; i < 200; i++) { a = Caught(() => Tested((int*)at)); b = Caught(() => InLoop((int*)at, 3)); c = Caught(() => Used((int*)at)); }
                Console.WriteLine(a + " " + b + " " + c);
            }
    }
}
