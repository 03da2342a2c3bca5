// Pointers to variables of a thread that waits for long: what others write there is what the thread finds.
// env: VERVET_DEBUG_TRIM_MS=4
// mcs: -unsafe
// grafts:
// tiers: all
using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

unsafe struct Numbers { public int A, B, C; public fixed int Many[6]; public int* OfB() { fixed (int* p = &B) return p; } }

static unsafe class Exposed
{
    static IntPtr given;
    static long number;
    static SemaphoreSlim gate = new SemaphoreSlim(0);

    sealed class Holder { public int* Pointer; }
    static Holder holder = new Holder();

    static void Give(int* p) { *p = 17; given = (IntPtr)p; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pass(int* p) { Give(p); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int* Pointer(ref int variable) { fixed (int* p = &variable) return p; }
    static int* PointerInlined(ref int variable) { fixed (int* p = &variable) return p; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void PassRef(ref int variable) { Give(Pointer(ref variable)); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Wait(int depth) { if (depth > 0) Wait(depth - 1); else gate.Wait(); GC.KeepAlive(gate); }

    static int Direct() { int x = 0; Pass(&x); Wait(0); return x; }
    static int Deep() { int x = 0; Pass(&x); Wait(6); return x; }
    static int Field() { var n = new Numbers(); Pass(&n.B); Wait(2); return n.B; }
    static int Element() { var n = new Numbers(); Pass(n.Many + 3); Wait(2); return n.Many[3]; }
    static int Small() { int* p = stackalloc int[4]; Pass(p + 2); Wait(1); return p[2]; }
    static int Large() { int* p = stackalloc int[4000]; Pass(p + 2000); Wait(1); return p[2000]; }
    static int ByRef() { int x = 0; PassRef(ref x); Wait(3); return x; }
    static int Inlined() { int x = 0; Give(PointerInlined(ref x)); Wait(3); return x; }
    static int This() { var n = new Numbers(); Give(n.OfB()); Wait(3); return n.B; }
    static int Argument(int x) { Give(&x); Wait(3); return x; }
    static int InClass() { int x = 0; Give(&x); holder.Pointer = &x; Wait(3); return x; }
    static int AsNumber() { int x = 17; number = (long)&x; given = (IntPtr)number; Wait(2); return x; }
    static int InCatch()
    {
        int x = 0;
        try { throw new Exception(); } catch (Exception) { Give(&x); Wait(1); }
        return x;
    }
    // The pointer is made while another method waits further in, and lies in a frame further out.
    static int Outer() { int x = 0; return Middle(ref x) + x; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Middle(ref int x) { fixed (int* p = &x) { Give(p); Wait(2); } return 0; }

    // A delegate whose parameter is another one than its method's.
    delegate void TakesPointer(int* p);
    delegate void TakesRef(ref int x);
    [System.Runtime.InteropServices.StructLayout(System.Runtime.InteropServices.LayoutKind.Explicit)]
    struct Both
    {
        [System.Runtime.InteropServices.FieldOffset(0)] public TakesPointer Pointer;
        [System.Runtime.InteropServices.FieldOffset(0)] public TakesRef Ref;
    }
    static int Through() { int x = 0; var both = new Both { Pointer = Give }; both.Ref(ref x); Wait(1); return x; }

    static void Try(string name, Func<int> body)
    {
        given = IntPtr.Zero;
        var task = Task.RunAsGreenThread(body);
        while (Volatile.Read(ref given) == IntPtr.Zero) Thread.Sleep(1);
        Thread.Sleep(60);
        int* p = (int*)given;
        int before = *p;
        *p = 4711;
        Thread.Sleep(30);
        gate.Release();
        Console.WriteLine("{0}: {1} {2}", name, before, task.Result);
    }

    static void Main()
    {
        // The trimmer looks only if there are many.
        var fill = new SemaphoreSlim(0);
        var others = new Task[400];
        for (int i = 0; i < others.Length; i++) others[i] = Task.RunAsGreenThread(() => fill.Wait());
        Try("direct", Direct);         // expect: direct: 17 4711
        Try("deep", Deep);             // expect: deep: 17 4711
        Try("field", Field);           // expect: field: 17 4711
        Try("element", Element);       // expect: element: 17 4711
        Try("small", Small);           // expect: small: 17 4711
        Try("large", Large);           // expect: large: 17 4711
        Try("by-ref", ByRef);          // expect: by-ref: 17 4711
        Try("inlined", Inlined);       // expect: inlined: 17 4711
        Try("this", This);             // expect: this: 17 4711
        Try("argument", () => Argument(0)); // expect: argument: 17 4711
        Try("class", InClass);         // expect: class: 17 4711
        Try("number", AsNumber);       // expect: number: 17 4711
        Try("catch", InCatch);         // expect: catch: 17 4711
        Try("outer", Outer);           // expect: outer: 17 4711
        Try("delegate", Through);      // expect: delegate: 17 4711
        fill.Release(others.Length);
        Task.WaitAll(others);
    }
}
