// tiers: all
// A recursion of long methods that were called a few times only has room on the stack on which it has under mono: of one method, and of forty that call
// each other, on a stack of a megabyte. Each method keeps many values alive that code made quickly would give places of their own.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

static class DeepRecursion
{
    static readonly MethodInfo Length = typeof(string).GetProperty("Length").GetGetMethod();
    static readonly MethodInfo IndexOf = typeof(string).GetMethod("IndexOf", new[] { typeof(char) });
    static readonly MethodInfo Concat = typeof(string).GetMethod("Concat", new[] { typeof(string), typeof(string) });

    // static int N(int depth, string s) { int sum = depth; (the statements); if (depth > 0) sum += Next(depth - 1, s); return sum & 0xffff; }
    static Func<int, string, int> Make(string name, int methods, int statements)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Run);
        var type = assembly.DefineDynamicModule(name).DefineType("T", TypeAttributes.Public);
        var all = new MethodBuilder[methods];
        for (int i = 0; i < methods; i++)
            all[i] = type.DefineMethod("M" + i, MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int), typeof(string) });
        for (int i = 0; i < methods; i++)
        {
            var il = all[i].GetILGenerator();
            var sum = il.DeclareLocal(typeof(int));
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Stloc, sum);
            for (int n = 0; n < statements; n++)
            {
                // if (s.Length > n) sum += s.IndexOf((char)n); sum ^= string.Concat(s, "xN").Length;
                var skip = il.DefineLabel();
                var text = il.DeclareLocal(typeof(string));
                il.Emit(OpCodes.Ldarg_1);
                il.Emit(OpCodes.Callvirt, Length);
                il.Emit(OpCodes.Ldc_I4, n);
                il.Emit(OpCodes.Ble, skip);
                il.Emit(OpCodes.Ldloc, sum);
                il.Emit(OpCodes.Ldarg_1);
                il.Emit(OpCodes.Ldc_I4, n + 97);
                il.Emit(OpCodes.Call, IndexOf);
                il.Emit(OpCodes.Add);
                il.Emit(OpCodes.Stloc, sum);
                il.MarkLabel(skip);
                il.Emit(OpCodes.Ldarg_1);
                il.Emit(OpCodes.Ldstr, "x" + n);
                il.Emit(OpCodes.Call, Concat);
                il.Emit(OpCodes.Stloc, text);
                il.Emit(OpCodes.Ldloc, sum);
                il.Emit(OpCodes.Ldloc, text);
                il.Emit(OpCodes.Callvirt, Length);
                il.Emit(OpCodes.Xor);
                il.Emit(OpCodes.Stloc, sum);
            }
            var end = il.DefineLabel();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Brfalse, end);
            il.Emit(OpCodes.Ldloc, sum);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4_1);
            il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Call, all[(i + 1) % methods]);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Stloc, sum);
            il.MarkLabel(end);
            il.Emit(OpCodes.Ldloc, sum);
            il.Emit(OpCodes.Ldc_I4, 0xffff);
            il.Emit(OpCodes.And);
            il.Emit(OpCodes.Ret);
        }
        return (Func<int, string, int>)Delegate.CreateDelegate(typeof(Func<int, string, int>), type.CreateType().GetMethod("M0"));
    }

    static void Run(string name, int methods, int statements, int depth)
    {
        var first = Make(name, methods, statements);
        var thread = new Thread(() => Console.WriteLine(name + " " + first(depth, "abc")), 1 << 20);
        thread.Start();
        thread.Join();
    }

    static void Main()
    {
        Run("one", 1, 40, 1500); // expect: one 16151
        Run("forty", 40, 40, 1500); // expect: forty 16151
        Run("long", 1, 120, 1500); // expect: long 16151
    }
}
