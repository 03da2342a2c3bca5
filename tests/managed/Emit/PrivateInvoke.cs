// A plain GetMethod("Invoke") finds a delegate's Invoke that is not public, and so does Delegate.CreateDelegate, which asks that way.
using System;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;

static class PrivateInvoke
{
    public static int Seven() { return 7; }

    static void Main()
    {
        var module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("built"), AssemblyBuilderAccess.Run).DefineDynamicModule("built");
        var type = module.DefineType("D", TypeAttributes.Sealed, typeof(MulticastDelegate));
        type.DefineConstructor(MethodAttributes.RTSpecialName | MethodAttributes.HideBySig | MethodAttributes.Public, CallingConventions.Standard,
            new[] { typeof(object), typeof(IntPtr) }).SetImplementationFlags(MethodImplAttributes.Runtime);
        type.DefineMethod("Invoke", MethodAttributes.Private | MethodAttributes.HideBySig | MethodAttributes.NewSlot | MethodAttributes.Virtual,
            typeof(int), Type.EmptyTypes).SetImplementationFlags(MethodImplAttributes.Runtime);
        var made = type.CreateType();
        Console.WriteLine(made.GetMethod("Invoke"));
        // expect: Int32 Invoke()
        const BindingFlags all = BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static;
        Console.WriteLine(made.GetMethod("Invoke", all) + "|" + made.GetMethod("Invoke", BindingFlags.Public | BindingFlags.Instance));
        // expect: Int32 Invoke()|
        Console.WriteLine(made.GetMethod("INVOKE", all | BindingFlags.IgnoreCase) + "|" + made.GetMember("Invoke").Length);
        // expect: |1
        Console.WriteLine(Delegate.CreateDelegate(made, typeof(PrivateInvoke).GetMethod("Seven")).DynamicInvoke());
        // expect: 7
        var compiled = Expression.Lambda(made, Expression.Constant(42)).Compile();
        Console.WriteLine(Expression.Lambda<Func<int>>(Expression.Invoke(Expression.Constant(compiled))).Compile()());
        // expect: 42
        Console.WriteLine(typeof(MulticastDelegate).GetMethod("Invoke") == null);
        // expect: True
    }
}
