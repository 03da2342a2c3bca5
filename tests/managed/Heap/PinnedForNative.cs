// What native code was given an address into stays where it is, although managed code that it calls back allocates
// and collects: `fixed` of arrays, elements and strings, arrays passed as such, and objects kept alive.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

unsafe static class PinnedForNative
{
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc", EntryPoint = "qsort")]
    static extern void SortAt(void* at, UIntPtr count, UIntPtr size, Compare compare);
    [DllImport("libc", EntryPoint = "qsort")]
    static extern void SortArray([In, Out] int[] array, UIntPtr count, UIntPtr size, Compare compare);
    [DllImport("libc", EntryPoint = "qsort")]
    static extern void SortLongs([In, Out] long[] array, UIntPtr count, UIntPtr size, Compare compare);

    static int calls;
    static object[] kept = new object[64];

    // Garbage and survivors around whatever is being sorted.
    static void Disturb()
    {
        for (int i = 0; i < 20; i++) kept[(calls + i) & 63] = new byte[40 + (i * 37 & 511)];
        if (++calls % 200 == 0) GC.Collect(calls % 600 == 0 ? 2 : 0);
    }
    static int ByInt(IntPtr a, IntPtr b) { Disturb(); return (*(int*)a).CompareTo(*(int*)b); }
    static int ByLong(IntPtr a, IntPtr b) { Disturb(); return (*(long*)a).CompareTo(*(long*)b); }
    static int ByChar(IntPtr a, IntPtr b) { Disturb(); return (*(char*)a).CompareTo(*(char*)b); }

    static int[] Numbers(int n)
    {
        var a = new int[n];
        uint x = 12345;
        for (int i = 0; i < n; i++) { x = x * 1664525 + 1013904223; a[i] = (int)(x >> 8); }
        return a;
    }
    static bool Sorted(int[] a, int from, int to)
    {
        for (int i = from + 1; i < to; i++) if (a[i - 1] > a[i]) return false;
        return true;
    }

    static bool WholeArray()
    {
        var a = Numbers(1000);
        fixed (int* p = a) SortAt(p, (UIntPtr)1000, (UIntPtr)4, ByInt);
        return Sorted(a, 0, 1000);
    }
    static bool FromElement()
    {
        var a = Numbers(1000);
        int first = a[99];
        fixed (int* p = &a[100]) SortAt(p, (UIntPtr)900, (UIntPtr)4, ByInt);
        return Sorted(a, 100, 1000) && a[99] == first && !Sorted(a, 0, 100);
    }
    static bool InProtectedRegion()
    {
        var a = Numbers(500);
        try
        {
            fixed (int* p = a)
            {
                try { SortAt(p, (UIntPtr)500, (UIntPtr)4, ByInt); }
                finally { Disturb(); }
                return Sorted(a, 0, 500) && p[0] == a[0];
            }
        }
        catch (ApplicationException) { return false; }
    }
    static string Letters()
    {
        var text = new string('x', 300);
        fixed (char* p = text)
        {
            for (int i = 0; i < 300; i++) p[i] = (char)('a' + i * 7 % 26);
            SortAt(p, (UIntPtr)300, (UIntPtr)2, ByChar);
        }
        return text.Substring(0, 3) + text.Substring(297);
    }
    static bool AsArgument()
    {
        var a = Numbers(1000);
        SortArray(a, (UIntPtr)1000, (UIntPtr)4, ByInt);
        var b = new long[700];
        for (int i = 0; i < b.Length; i++) b[i] = 1000000007L * (i * 31 % 700);
        SortLongs(b, (UIntPtr)700, (UIntPtr)8, ByLong);
        for (int i = 1; i < b.Length; i++) if (b[i - 1] >= b[i]) return false;
        return Sorted(a, 0, 1000);
    }

    class Watched
    {
        public static int Gone;
        public int Value = 42;
        ~Watched() { Gone++; }
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int KeptAlive()
    {
        var w = new Watched();
        int value = w.Value;
        for (int i = 0; i < 10; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
        int gone = Watched.Gone;
        GC.KeepAlive(w);
        return gone + value;
    }

    static void Main()
    {
        Console.WriteLine(WholeArray());  // expect: True
        Console.WriteLine(FromElement());  // expect: True
        Console.WriteLine(InProtectedRegion());  // expect: True
        Console.WriteLine(Letters());  // expect: aaazzz
        Console.WriteLine(AsArgument());  // expect: True
        Console.WriteLine(KeptAlive());  // expect: 42
    }
}
