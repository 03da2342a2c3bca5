// P/Invokes that are made without their stubs, and functions of the C library that are instructions or short calls.
// mcs: -unsafe
// expect: fabs 3 sqrt 4 floor -3 ceil -2 trunc -2
// expect: pow 1024 sin 1 fmod 1 atan2 0 hypot 5
// expect: fabs(-0) 0 trunc(-0.5) -0 sqrt(-1) NaN pow(0,-1) Infinity
// expect: own floor 42, own pow 7
// expect: abs 500000 labs 5000000000 tolower a
// expect: sbyte -1 byte 255 short -2 ushort 65534 uint 4294967295 bool False
// expect: copied 1 2 3 4 5 6 7 8
// expect: sorted 5000 calls 0 1 2 3 4 5 6 7 8 9
// expect: thrown through qsort 100
// expect: missing 3 (wrapper managed-to-native) ShortFunctions.no_such_function(double)
// expect: constructed once 1
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Early
{
    public static int Runs;
    static Early() { Runs++; }
    [DllImport("libc.so.6", EntryPoint = "abs")] public static extern int Absolute(int x);
}

unsafe static class ShortFunctions
{
    const string M = "libm.so.6", C = "libc.so.6";
    [DllImport(M)] static extern double fabs(double x);
    [DllImport(M)] static extern double sqrt(double x);
    [DllImport(M)] static extern double floor(double x);
    [DllImport(M)] static extern double ceil(double x);
    [DllImport(M)] static extern double trunc(double x);
    [DllImport(M, EntryPoint = "pow")] static extern double Power(double x, double y);
    [DllImport(M)] static extern double sin(double x);
    [DllImport(M)] static extern double fmod(double x, double y);
    [DllImport(M)] static extern double atan2(double x, double y);
    [DllImport(M)] static extern double hypot(double x, double y);
    [DllImport(M)] static extern double no_such_function(double x);
    // Functions of these names that are not the C library's: another function under the name is what the program asks for.
    [DllImport(C, EntryPoint = "abs")] static extern int floor(int x);
    [DllImport(C, EntryPoint = "labs")] static extern long pow(long x);
    [DllImport(C)] static extern int abs(int x);
    [DllImport(C)] static extern long labs(long x);
    [DllImport(C)] static extern int tolower(int c);
    [DllImport(C, EntryPoint = "abs")] static extern sbyte AbsS1(int x);
    [DllImport(C, EntryPoint = "abs")] static extern byte AbsU1(int x);
    [DllImport(C, EntryPoint = "abs")] static extern short AbsS2(int x);
    [DllImport(C, EntryPoint = "abs")] static extern ushort AbsU2(int x);
    [DllImport(C, EntryPoint = "labs")] static extern uint AbsU4(long x);
    [DllImport(C, EntryPoint = "abs")] static extern bool AbsBool(int x);
    [DllImport(C)] static extern IntPtr memcpy(byte[] to, byte[] from, IntPtr count);
    delegate int Comparison(int* x, int* y);
    [DllImport(C)] static extern void qsort(int[] items, IntPtr count, IntPtr size, Comparison compare);
    [DllImport(C, EntryPoint = "qsort")] static extern void qsort_at(IntPtr items, IntPtr count, IntPtr size, IntPtr compare);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double Repeat(Func<double> f) { double x = 0; for (int i = 0; i < 100; i++) x = f(); return x; }

    static int calls;
    static int Compare(int* x, int* y)
    {
        if (++calls % 64 == 0) GC.Collect(0);
        return *x - *y;
    }

    static void Main()
    {
        Console.WriteLine("fabs {0} sqrt {1} floor {2} ceil {3} trunc {4}", Repeat(() => fabs(-3)), Repeat(() => sqrt(16)), Repeat(() => floor(-2.5)), Repeat(() => ceil(-2.5)), Repeat(() => trunc(-2.5)));
        Console.WriteLine("pow {0} sin {1} fmod {2} atan2 {3} hypot {4}", Repeat(() => Power(2, 10)), Repeat(() => sin(Math.PI / 2)), Repeat(() => fmod(10, 3)), Repeat(() => atan2(0, 1)), Repeat(() => hypot(3, 4)));
        double zero = Repeat(() => fabs(-0.0)), half = Repeat(() => trunc(-0.5));
        Console.WriteLine("fabs(-0) {0} trunc(-0.5) {1} sqrt(-1) {2} pow(0,-1) {3}", 1 / zero > 0 ? "0" : "-0", 1 / half > 0 ? "0" : "-0", Repeat(() => sqrt(-1)), Repeat(() => Power(0, -1)));
        int own = 0;
        long other = 0;
        for (int i = 0; i < 100; i++) { own = floor(-42); other = pow(-7); }
        Console.WriteLine("own floor {0}, own pow {1}", own, other);

        int sum = 0;
        long wide = 0;
        for (int i = 0; i < 1000; i++) { sum += abs(-500); wide += labs(-5000000); }
        Console.WriteLine("abs {0} labs {1} tolower {2}", sum, wide, (char)tolower('A'));
        sbyte s1 = 0; byte u1 = 0; short s2 = 0; ushort u2 = 0; uint u4 = 0; bool b = false;
        for (int i = 0; i < 100; i++) { s1 = AbsS1(255); u1 = AbsU1(255); s2 = AbsS2(65534); u2 = AbsU2(65534); u4 = AbsU4(uint.MaxValue); b = AbsBool(256); }
        Console.WriteLine("sbyte {0} byte {1} short {2} ushort {3} uint {4} bool {5}", s1, u1, s2, u2, u4, b);

        var to = new byte[8];
        for (int i = 0; i < 100; i++) memcpy(to, new byte[] { 1, 2, 3, 4, 5, 6, 7, 8 }, (IntPtr)8);
        Console.WriteLine("copied " + string.Join(" ", to));

        // Collections while native code has the address of an array that nothing else refers to.
        int[] items = null;
        Comparison compare = Compare;
        for (int i = 0; i < 20; i++) {
            items = Enumerable.Range(0, 5000).Select(n => (n * 7919) % 5000).ToArray();
            qsort(items, (IntPtr)items.Length, (IntPtr)4, compare);
        }
        Console.WriteLine("sorted {0} calls {1}", items.Length, string.Join(" ", items.Take(10)));

        int thrown = 0;
        Comparison fails = (x, y) => { throw new InvalidOperationException(); };
        IntPtr code = Marshal.GetFunctionPointerForDelegate(fails);
        fixed (int* at = items)
            for (int i = 0; i < 100; i++)
                try { qsort_at((IntPtr)at, (IntPtr)2, (IntPtr)4, code); } catch (InvalidOperationException) { thrown++; }
        Console.WriteLine("thrown through qsort {0}", thrown);
        GC.KeepAlive(fails);

        int missing = 0;
        string line = "";
        for (int i = 0; i < 3; i++)
            try { no_such_function(1); } catch (EntryPointNotFoundException e) { missing++; line = e.StackTrace.Split('\n')[0].Trim().Substring(3); }
        Console.WriteLine("missing {0} {1}", missing, line);
        for (int i = 0; i < 10; i++) Early.Absolute(-1);
        Console.WriteLine("constructed once {0}", Early.Runs);
    }
}
