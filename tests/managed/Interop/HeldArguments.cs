// What native code has a pointer to stays in place and alive while it runs, though nothing managed refers to it any more: unmanaged `calli` in methods that are
// compiled again, P/Invokes and delegates, with other threads that collect.
// cc:
// expect: calli of an array: 0
// expect: calli of a reference: 0
// expect: P/Invoke of an array: 0
// expect: P/Invoke of a reference: 0
// expect: P/Invoke of floats: 0
// expect: delegate: 0
// expect: HandleRef: 0 0
using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Holder { public static int Finalized; ~Holder() { Interlocked.Increment(ref Finalized); } }
static class HeldArguments
{
    [DllImport("libdl.so.2", EntryPoint = "dlopen")] static extern IntPtr Open(string name, int mode);
    [DllImport("libdl.so.2", EntryPoint = "dlsym")] static extern IntPtr Symbol(IntPtr library, string name);
    [DllImport("libHeldArguments.so")] static extern long slow_sum(int[] all, int n, int us);
    [DllImport("libHeldArguments.so")] static extern int slow_read(ref int at, int us);
    [DllImport("libHeldArguments.so")] static extern double slow_mix(double a, ref int at, float b, int us);
    delegate long Sum(int[] all, int n, int us);
    static volatile bool stop;
    static object keep;
    [MethodImpl(MethodImplOptions.NoInlining)] public static int[] Make() { var a = new int[64]; for (int i = 0; i < 64; i++) a[i] = i + 1; return a; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static HandleRef Held() { return new HandleRef(new Holder(), (IntPtr)5); }

    static Func<IntPtr, long> Calli(Action<ILGenerator> push, Type result, params Type[] types)
    {
        var m = new DynamicMethod("calli", typeof(long), new[] { typeof(IntPtr) }, typeof(HeldArguments).Module, true);
        var il = m.GetILGenerator();
        push(il);
        il.Emit(OpCodes.Ldarg_0);
        il.EmitCalli(OpCodes.Calli, CallingConvention.Cdecl, result, types);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.Ret);
        return (Func<IntPtr, long>)m.CreateDelegate(typeof(Func<IntPtr, long>));
    }
    static void Report(string what, Func<int> wrong)
    {
        int n = 0;
        for (int i = 0; i < 150; i++) n += wrong();
        Console.WriteLine(what + ": " + n);
    }
    static void Main()
    {
        int us = 500, sum = 64 * 65 / 2;
        var library = Open("./libHeldArguments.so", 2);
        IntPtr sums = Symbol(library, "slow_sum"), reads = Symbol(library, "slow_read"), words = Symbol(library, "slow_word");
        var collector = new Thread(() => { while (!stop) { GC.Collect(0); for (int i = 0; i < 2000; i++) keep = new int[64]; if (Holder.Finalized < 0) break; } });
        collector.IsBackground = true; collector.Start();
        var array = Calli(il => { il.Emit(OpCodes.Call, typeof(HeldArguments).GetMethod("Make")); il.Emit(OpCodes.Ldc_I4, 64); il.Emit(OpCodes.Ldc_I4, us); }, typeof(long), typeof(int[]), typeof(int), typeof(int));
        var reference = Calli(il => { il.Emit(OpCodes.Call, typeof(HeldArguments).GetMethod("Make")); il.Emit(OpCodes.Ldc_I4_5); il.Emit(OpCodes.Ldelema, typeof(int)); il.Emit(OpCodes.Ldc_I4, us); }, typeof(int), typeof(int).MakeByRefType(), typeof(int));
        var pointer = Marshal.GetDelegateForFunctionPointer(sums, typeof(Sum)) as Sum;
        Report("calli of an array", () => array(sums) == sum ? 0 : 1);
        Report("calli of a reference", () => reference(reads) == 6 ? 0 : 1);
        Report("P/Invoke of an array", () => slow_sum(Make(), 64, us) == sum ? 0 : 1);
        Report("P/Invoke of a reference", () => slow_read(ref Make()[5], us) == 6 ? 0 : 1);
        Report("P/Invoke of floats", () => slow_mix(0.5, ref Make()[7], 0.25f, us) == 8.75 ? 0 : 1);
        Report("delegate", () => pointer(Make(), 64, us) == sum ? 0 : 1);
        stop = true; collector.Join();
        var words2 = Calli(il => { il.Emit(OpCodes.Call, typeof(HeldArguments).GetMethod("Held")); il.Emit(OpCodes.Ldc_I4, us * 20); }, typeof(long), typeof(HandleRef), typeof(int));
        int early = 0, wrong = 0; bool done = false;
        var full = new Thread(() => { while (!Volatile.Read(ref done)) { GC.Collect(); GC.WaitForPendingFinalizers(); } });
        full.Start();
        for (int i = 0; i < 10; i++) { if (words2(words) != 5) wrong++; if (Holder.Finalized > i) early++; }
        Volatile.Write(ref done, true); full.Join();
        Console.WriteLine("HandleRef: " + wrong + " " + early);
    }
}
