// What is passed between native and managed code arrives whole: arrays in calls from native code have the length that is
// declared, `fixed` buffers and declared sizes are copied, what is freed was written. A function registered with atexit can call managed code.
// cc:
// exit: 3
using System;
using System.Runtime.InteropServices;

static unsafe class Passed
{
    delegate int Counted([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1)] int[] a, int n);
    delegate int CountedOut([In, Out, MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1)] int[] a, int n);
    delegate int CountedAndMore([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1, SizeConst = 2)] int[] a, int n);
    delegate int CountedByShort([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1)] int[] a, short n);
    delegate int CountedByText([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1)] int[] a, double n);
    delegate int CountedFar(int a, int b, int c, int d, int e, int f, int g, [MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 8)] int[] array, int n);
    delegate int CountedByReference([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1)] int[] a, ref int n);
    delegate int Texts([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 1, ArraySubType = UnmanagedType.LPStr)] string[] a, int n);
    delegate int Constant([MarshalAs(UnmanagedType.LPArray, SizeConst = 3)] int[] a, int n);
    delegate int OutOfRange([MarshalAs(UnmanagedType.LPArray, SizeParamIndex = 9)] int[] a, int n);
    delegate int Unknown(int[] a, int n);
    delegate int Number(int n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(Counted f, int n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(CountedOut f, int n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(CountedAndMore f, int n);
    [DllImport("Passed", EntryPoint = "with_short_count")] static extern int Call(CountedByShort f, short n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(CountedByText f, int n);
    [DllImport("Passed", EntryPoint = "with_many")] static extern int Call(CountedFar f, int n);
    [DllImport("Passed", EntryPoint = "with_count_by_reference")] static extern int Call(CountedByReference f, int n);
    [DllImport("Passed", EntryPoint = "with_texts")] static extern int Call(Texts f, int n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(Constant f, int n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(OutOfRange f, int n);
    [DllImport("Passed", EntryPoint = "with_count")] static extern int Call(Unknown f, int n);
    [DllImport("Passed")] static extern int first_element(int i);
    [DllImport("Passed", EntryPoint = "some_handle")] static extern NoHandle Abstract();
    [DllImport("Passed", EntryPoint = "some_handle_out")] static extern void Abstract(out NoHandle h);
    [DllImport("Passed")] static extern int handles_made();
    [DllImport("Passed")] static extern int sum_fixed(ref WithFixed f);
    [DllImport("Passed")] static extern void at_exit(Number f);

    abstract class NoHandle : SafeHandle { protected NoHandle() : base(IntPtr.Zero, true) { } }
    struct WithFixed { public int Before; public fixed byte Bytes[5]; public int After; public string Text; }
    [StructLayout(LayoutKind.Sequential, Size = 12)] struct Sized { public int A; }
    struct Strings { [MarshalAs(UnmanagedType.ByValArray, SizeConst = 3)] public string[] All; }

    static Number last;
    static int Sum(int[] a) { int sum = 0; foreach (int i in a) sum += i; return 100 * a.Length + sum; }
    static void Try(string what, Func<object> work)
    {
        try { Console.WriteLine(what + ": " + work()); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
    static WithFixed Fixed()
    {
        var f = new WithFixed { Before = 1000, After = 2000, Text = "text" };
        for (int i = 0; i < 5; i++) f.Bytes[i] = (byte)(i + 1);
        return f;
    }
    static int Main()
    {
        Try("counted", () => Call((Counted)((a, n) => Sum(a)), 4));                        // expect: counted: 410
        Try("none", () => Call((Counted)((a, n) => Sum(a)), 0));                           // expect: none: 0
        Try("fewer than none", () => Call((Counted)((a, n) => Sum(a)), -1));               // expect: fewer than none: OverflowException
        Try("and two", () => Call((CountedAndMore)((a, n) => Sum(a)), 3));                 // expect: and two: 515
        Try("by a short", () => Call((CountedByShort)((a, n) => Sum(a)), 3));              // expect: by a short: 306
        Try("on the stack", () => Call((CountedFar)((a, b, c, d, e, f, g, array, n) => Sum(array)), 5));  // expect: on the stack: 515
        Try("by reference", () => Call((CountedByReference)((int[] a, ref int n) => Sum(a)), 2));         // expect: by reference: 203
        Try("texts", () => Call((Texts)((a, n) => { Console.Write(string.Concat(a) + " "); return a.Length; }), 3));  // expect: abc texts: 3
        Try("constant", () => Call((Constant)((a, n) => Sum(a)), 5));                      // expect: constant: 306
        Try("no such parameter", () => Call((OutOfRange)((a, n) => Sum(a)), 5));           // expect: no such parameter: MarshalDirectiveException
        Try("not said", () => Call((Unknown)((a, n) => Sum(a)), 5));                       // expect: not said: MarshalDirectiveException
        Try("only read", () => { Call((Counted)((a, n) => { a[3] = 44; return 0; }), 4); return first_element(3); });     // expect: only read: 4
        Try("written", () => { Call((CountedOut)((a, n) => { a[3] = 44; return 0; }), 4); return first_element(3); });    // expect: written: 44

        Try("abstract", () => Abstract());                                                 // expect: abstract: MarshalDirectiveException
        Try("not called", () => handles_made());                                           // expect: not called: 0
        Try("abstract out", () => { NoHandle h; Abstract(out h); return h; });             // expect: abstract out: MemberAccessException

        Try("fixed", () => { var f = Fixed(); return sum_fixed(ref f); });                 // expect: fixed: 3015
        var memory = (byte*)Marshal.AllocHGlobal(64);
        Action dirty = () => { for (int i = 0; i < 64; i++) memory[i] = 0xcc; };
        Try("fixed in memory", () =>
        {
            dirty();
            Marshal.StructureToPtr(Fixed(), (IntPtr)memory, false);
            var back = (WithFixed)Marshal.PtrToStructure((IntPtr)memory, typeof(WithFixed));
            Marshal.DestroyStructure((IntPtr)memory, typeof(WithFixed));
            return back.Bytes[0] + " " + back.Bytes[1] + " " + back.Bytes[4] + " " + back.Text;
        });                                                                                // expect: fixed in memory: 1 2 5 text
        Try("sized", () => { dirty(); Marshal.StructureToPtr(new Sized(), (IntPtr)memory, false); return memory[11] + " " + memory[12]; });  // expect: sized: 0 204
        Try("no strings", () =>
        {
            dirty();
            Marshal.StructureToPtr(new Strings(), (IntPtr)memory, false);
            Marshal.DestroyStructure((IntPtr)memory, typeof(Strings));
            dirty();
            Marshal.StructureToPtr(new Strings { All = new[] { "one" } }, (IntPtr)memory, false);
            var back = (Strings)Marshal.PtrToStructure((IntPtr)memory, typeof(Strings));
            Marshal.DestroyStructure((IntPtr)memory, typeof(Strings));
            return back.All.Length + " " + back.All[0] + " " + (back.All[1] ?? "null");
        });                                                                                // expect: no strings: 3 one null

        Try("too long", () => Marshal.PtrToStringUni((IntPtr)memory, int.MaxValue));         // expect: too long: OutOfMemoryException
        Try("shorter than none", () => Marshal.PtrToStringUni((IntPtr)memory, -1));          // expect: shorter than none: OutOfMemoryException
        last = n => new object[n + 4].Length;                                              // expect: at the end: 5
        at_exit(last);
        return 3;
    }
}
