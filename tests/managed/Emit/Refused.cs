// Definitions that would break the types of values: mono accepts some of them and misbehaves.
using System;
using System.Reflection;
using System.Reflection.Emit;

class Refused
{
    public class Base { public virtual int F() { return 3; } }
    static void Try(string what, Action action)
    {
        try { action(); Console.WriteLine(what + " works"); }
        catch (Exception e) { Console.WriteLine(what + ": " + (e.InnerException ?? e).GetType().Name); }
    }
    static void Main()
    {
        var m = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("refused"), AssemblyBuilderAccess.Run).DefineDynamicModule("refused");
        // A MethodImpl whose methods have different signatures (ECMA-335 II.22.27).
        foreach (var of in new[] { typeof(Base).GetMethod("F"), typeof(IDisposable).GetMethod("Dispose") })
        {
            var onInterface = of.DeclaringType.IsInterface;
            var t = m.DefineType("D" + of.Name, TypeAttributes.Public, onInterface ? typeof(object) : of.DeclaringType, onInterface ? new[] { of.DeclaringType } : Type.EmptyTypes);
            var body = t.DefineMethod("X", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), new[] { typeof(long) });
            var il = body.GetILGenerator();
            il.Emit(OpCodes.Ldnull);
            il.Emit(OpCodes.Ret);
            t.DefineMethodOverride(body, of);
            Try(of.Name, () => {
                var o = Activator.CreateInstance(t.CreateType());
                if (o is Base) ((Base)o).F(); else ((IDisposable)o).Dispose();
            });
        }
        // expect: F: TypeLoadException
        // expect: Dispose: TypeLoadException
        // A delegate that is closed over a value.
        var dm = new DynamicMethod("x", typeof(int), new[] { typeof(decimal), typeof(int) });
        var g = dm.GetILGenerator();
        g.Emit(OpCodes.Ldarg_1);
        g.Emit(OpCodes.Ret);
        Try("closed", () => dm.CreateDelegate(typeof(Func<int, int>), 5m)); // expect: closed: ArgumentException
    }
}
