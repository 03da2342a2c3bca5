// A type with tens of thousands of members: what it costs grows with their number, not with its square.
using System;
using System.Reflection;
using System.Reflection.Emit;

class ManyMembers
{
    static void Main()
    {
        const int N = 30000;
        var m = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("many"), AssemblyBuilderAccess.Run).DefineDynamicModule("many");
        var t = m.DefineType("T", TypeAttributes.Public);
        for (int i = 0; i < N; i++)
        {
            var il = t.DefineMethod("M" + i, MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes).GetILGenerator();
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Ret);
        }
        var made = t.CreateType();
        Console.WriteLine(made.GetMethods(BindingFlags.Static | BindingFlags.Public).Length); // expect: 30000
        Console.WriteLine(made.GetMethod("M29999").Invoke(null, null)); // expect: 29999
    }
}
