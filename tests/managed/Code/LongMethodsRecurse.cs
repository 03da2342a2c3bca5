// A method of very many instructions calls itself: its frames are small enough for a deep recursion, whether it can be optimised or is too long for that.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

public static class LongMethodsRecurse
{
    public static object Same(object o) { return o; }

    // static object Run(int depth, object o): many statements, one after the other, of which each uses a value of the one before; one of them calls Run.
    static Func<int, object, object> Make(int statements)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("long" + statements), AssemblyBuilderAccess.Run);
        var type = assembly.DefineDynamicModule("long").DefineType("Long", TypeAttributes.Public);
        var run = type.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, typeof(object), new[] { typeof(int), typeof(object) });
        var same = typeof(LongMethodsRecurse).GetMethod("Same");
        var il = run.GetILGenerator();
        for (int i = 0; i < statements; i++) {
            var next = il.DefineLabel();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i == 0 ? -1 : -i - 2);
            il.Emit(OpCodes.Beq, next);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Call, same);
            il.Emit(OpCodes.Starg_S, (byte)1);
            il.MarkLabel(next);
        }
        var end = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brfalse, end);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Call, run);
        il.Emit(OpCodes.Starg_S, (byte)1);
        il.MarkLabel(end);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ret);
        return (Func<int, object, object>)Delegate.CreateDelegate(typeof(Func<int, object, object>), type.CreateType().GetMethod("Run"));
    }
    // Several threads come to the last of the first calls at the same time.
    static void AtOnce()
    {
        var run = Make(1500);
        var results = new object[3];
        var threads = new Thread[results.Length];
        var begin = new Barrier(threads.Length);
        for (int i = 0; i < threads.Length; i++) {
            int me = i;
            threads[i] = new Thread(() => {
                begin.SignalAndWait();
                results[me] = run(300, "thread");
            });
            threads[i].Start();
        }
        foreach (var thread in threads) thread.Join();
        Console.WriteLine(string.Join(" ", results)); // expect: thread thread thread
    }
    static void Main()
    {
        AtOnce();
        Console.WriteLine(Make(250)(3000, "optimised")); // expect: optimised
        Console.WriteLine(Make(3000)(3000, "too long")); // expect: too long
    }
}
