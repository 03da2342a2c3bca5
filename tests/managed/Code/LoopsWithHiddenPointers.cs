// A loop is not left for other code where a pointer to the frame may exist, though no code here is unsafe: a method hands the address of a variable to native code, returns it, or makes a span of it
// behind a reference.
// env: VERVET_HOT_CALLS=2 VERVET_BACKGROUND_COMPILER=0
// cc: -O1
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

delegate void Keeper(ref int x);
struct Counter {
    public int Value;
    [MethodImpl(MethodImplOptions.NoInlining)] public void Register() { LoopsWithHiddenPointers.keep(ref Value); }
}

struct Hashed {
    public int Value;
    [MethodImpl(MethodImplOptions.NoInlining)] public override int GetHashCode() { LoopsWithHiddenPointers.keep(ref Value); return 1; }
}

static class LoopsWithHiddenPointers {
    [DllImport("LoopsWithHiddenPointers")] public static extern void keep(ref int x);
    [DllImport("LoopsWithHiddenPointers")] static extern void bump();
    [MethodImpl(MethodImplOptions.NoInlining)] static void Register(ref int x) { keep(ref x); }
    static void RegisterInlined(ref int x) { keep(ref x); }
    [MethodImpl(MethodImplOptions.NoInlining)] static ref int Same(ref int x) { return ref x; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Make(ref Span<int> span, ref int x) { span = MemoryMarshal.CreateSpan(ref x, 1); }

    static long ByMethod(int n) { int x = 5; Register(ref x); long s = 0; for (int i = 0; i < n; i++) { bump(); s += x; } return s * 1000 + x; }
    static long ByInlined(int n) { int x = 5; RegisterInlined(ref x); long s = 0; for (int i = 0; i < n; i++) { bump(); s += x; } return s * 1000 + x; }
    static long ByReturn(int n) { int x = 5; Register(ref Same(ref x)); long s = 0; for (int i = 0; i < n; i++) { bump(); s += x; } return s * 1000 + x; }
    static long ByDelegate(int n) { Keeper k = Register; int x = 5; k(ref x); long s = 0; for (int i = 0; i < n; i++) { bump(); s += x; } return s * 1000 + x; }
    static long ByStruct(int n) { var c = new Counter { Value = 5 }; c.Register(); long s = 0; for (int i = 0; i < n; i++) { bump(); s += c.Value; } return s * 1000 + c.Value; }
    static long ByArgument(int x, int n) { Register(ref x); long s = 0; for (int i = 0; i < n; i++) { bump(); s += x; } return s * 1000 + x; }
    static long BySpan(ref Span<int> q, int n) { int x = 5; Make(ref q, ref x); long s = 0; for (int i = 0; i < n; i++) { q[0]++; s += x; } return s * 1000 + x; }
    static long BySpanOfReturn(ref Span<int> q, int n) { int x = 5; q = MemoryMarshal.CreateSpan(ref Same(ref x), 1); long s = 0; for (int i = 0; i < n; i++) { q[0]++; s += x; } return s * 1000 + x; }

    static long ByNullable(int n) { Hashed? c = new Hashed { Value = 5 }; c.GetHashCode(); long s = 0; for (int i = 0; i < n; i++) { bump(); s += c.GetValueOrDefault().Value; } return s * 1000 + c.GetValueOrDefault().Value; }

    static void Main() {
        Span<int> q = default(Span<int>);
        Console.WriteLine(ByMethod(300)); // expect: 46650305
        Console.WriteLine(ByInlined(300)); // expect: 46650305
        Console.WriteLine(ByReturn(300)); // expect: 46650305
        Console.WriteLine(ByDelegate(300)); // expect: 46650305
        Console.WriteLine(ByStruct(300)); // expect: 46650305
        Console.WriteLine(ByArgument(5, 300)); // expect: 46650305
        Console.WriteLine(ByNullable(300)); // expect: 46650305
        Console.WriteLine(BySpan(ref q, 300)); // expect: 46650305
        Console.WriteLine(BySpanOfReturn(ref q, 300)); // expect: 46650305
    }
}
