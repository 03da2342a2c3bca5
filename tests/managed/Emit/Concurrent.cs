// Threads that define types in one module while others use what is there.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

class Concurrent
{
    static ModuleBuilder mb;
    static readonly object gate = new object();
    static int sum;

    static Type Define(string name, int value)
    {
        // Builders are not for several threads at once. Using types while others are created is.
        lock (gate)
        {
            var tb = mb.DefineType(name, TypeAttributes.Public);
            tb.DefineDefaultConstructor(MethodAttributes.Public);
            var m = tb.DefineMethod("Value", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes);
            var il = m.GetILGenerator();
            il.Emit(OpCodes.Ldstr, name); il.Emit(OpCodes.Callvirt, typeof(string).GetProperty("Length").GetGetMethod());
            il.Emit(OpCodes.Ldc_I4, value); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret);
            return tb.CreateType();
        }
    }

    static void Main()
    {
        mb = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("conc"), AssemblyBuilderAccess.Run).DefineDynamicModule("conc");
        var threads = new Thread[4];
        for (int t = 0; t < threads.Length; t++)
        {
            int n = t;
            threads[t] = new Thread(() => {
                for (int i = 0; i < 50; i++)
                {
                    var type = Define("T" + n + "_" + i, i);
                    var o = Activator.CreateInstance(type);
                    int v = (int)type.GetMethod("Value").Invoke(null, null);
                    if (v != o.GetType().Name.Length + i) Console.WriteLine("wrong: " + v);
                    Interlocked.Add(ref sum, v);
                    var d = new DynamicMethod("d", typeof(int), new[] { typeof(int) }, type);
                    var il = d.GetILGenerator();
                    il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, type.GetMethod("Value")); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret);
                    if (((Func<int, int>)d.CreateDelegate(typeof(Func<int, int>)))(1) != v + 1) Console.WriteLine("wrong dynamic");
                }
            });
        }
        foreach (var t in threads) t.Start();
        foreach (var t in threads) t.Join();
        Console.WriteLine(sum); // expect: 5860
        Console.WriteLine(mb.GetTypes().Length); // expect: 200
    }
}
