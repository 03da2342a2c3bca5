// A class that cannot be loaded is no failure of its method: reflection throws the TypeLoadException itself, without a TargetInvocationException.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.Serialization;

static class UnloadableTargets
{
    static int made;

    /// A class that lacks the method of its interface.
    static Type Lacking()
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Lacking" + made++), AssemblyBuilderAccess.Run);
        TypeBuilder type = assembly.DefineDynamicModule("m").DefineType("Lacking", TypeAttributes.Public, typeof(object), new[] { typeof(IComparable) });
        type.DefineDefaultConstructor(MethodAttributes.Public);
        ILGenerator il = type.DefineMethod("One", MethodAttributes.Public | MethodAttributes.Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Ret);
        return type.CreateType();
    }

    static void Try(string what, Func<object> action)
    {
        try { Console.WriteLine(what + ": " + action()); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name + (e.InnerException == null ? "" : " " + e.InnerException.GetType().Name)); }
    }

    static void Main()
    {
        for (int i = 0; i < 2; i++)
        {
            Type type = Lacking();
            for (int j = 0; j < 2; j++)
            {
                Try("create", () => Activator.CreateInstance(type));
                Try("create with arguments", () => Activator.CreateInstance(type, new object[0]));
                Try("create by name", () => type.Assembly.CreateInstance("Lacking"));
                Try("constructor", () => type.GetConstructor(Type.EmptyTypes).Invoke(null));
                Try("static method", () => type.GetMethod("One").Invoke(null, null));
                Try("member", () => type.InvokeMember("One", BindingFlags.InvokeMethod | BindingFlags.Static | BindingFlags.Public, null, null, null));
                Try("uninitialized", () => FormatterServices.GetUninitializedObject(type));
            }
        }
    }
}
