// What IL may do with a type that has been defined and not created, and that it works once the type is there.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

class Uncreated
{
    static void Try(string what, Action action)
    {
        try { action(); }
        catch (TargetInvocationException e) { Console.WriteLine(what + ": " + e.InnerException.GetType().Name); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
    static ModuleBuilder Module(string name)
    {
        return AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Run).DefineDynamicModule(name);
    }
    const MethodAttributes Public = MethodAttributes.Public, Static = MethodAttributes.Public | MethodAttributes.Static;

    static void Use(string how)
    {
        var m = Module(how);
        var s = m.DefineType("S", TypeAttributes.Public);
        var shared = s.DefineField("x", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        var field = s.DefineField("y", typeof(int), FieldAttributes.Public);
        var call = s.DefineMethod("M", Static, typeof(int), Type.EmptyTypes);
        var il = call.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_5);
        il.Emit(OpCodes.Ret);
        var made = s.DefineDefaultConstructor(Public);
        var u = m.DefineType("U", TypeAttributes.Public);
        il = u.DefineMethod("F", Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        switch (how)
        {
            case "call": il.Emit(OpCodes.Call, call); il.Emit(OpCodes.Box, typeof(int)); break;
            case "ldsfld": il.Emit(OpCodes.Ldsfld, shared); il.Emit(OpCodes.Box, typeof(int)); break;
            case "ldfld": il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Ldfld, field); il.Emit(OpCodes.Box, typeof(int)); break;
            case "newobj": il.Emit(OpCodes.Newobj, made); break;
            case "newarr": il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Newarr, s); break;
            case "isinst": il.Emit(OpCodes.Ldstr, "x"); il.Emit(OpCodes.Isinst, s); break;
            case "ldtoken": il.Emit(OpCodes.Ldtoken, s); il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldnull); break;
            case "ldftn": il.Emit(OpCodes.Ldftn, call); il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldnull); break;
        }
        il.Emit(OpCodes.Ret);
        var f = u.CreateType().GetMethod("F");
        ResolveEventHandler asked = (o, e) => { Console.WriteLine("asked for " + e.Name); return null; };
        AppDomain.CurrentDomain.TypeResolve += asked;
        Try(how, () => Console.WriteLine(how + " gives " + f.Invoke(null, null)));
        AppDomain.CurrentDomain.TypeResolve -= asked;
        s.CreateType();
        Try(how, () => Console.WriteLine(how + " gives " + f.Invoke(null, null)));
    }
    static void Main()
    {
        foreach (var how in new[] { "call", "ldsfld", "ldfld", "newobj", "newarr", "isinst", "ldtoken", "ldftn" })
            Use(how);
        // A member of an instantiation over such a type; the first failure is not kept.
        var m = Module("lists");
        var s = m.DefineType("S", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType));
        s.DefineField("x", typeof(int), FieldAttributes.Public);
        var u = m.DefineType("U", TypeAttributes.Public);
        var il = u.DefineMethod("F", Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        var list = typeof(List<>).MakeGenericType(s);
        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(list, typeof(List<>).GetConstructor(Type.EmptyTypes)));
        il.Emit(OpCodes.Ret);
        var f = u.CreateType().GetMethod("F");
        Try("list", () => Console.WriteLine(f.Invoke(null, null)));
        s.CreateType();
        Try("list", () => Console.WriteLine(f.Invoke(null, null)));
        // Overloads that differ by modifiers only are two methods.
        var d = m.DefineType("D", TypeAttributes.Public);
        for (int i = 1; i <= 2; i++)
        {
            var optional = i == 1 ? null : new[] { new[] { typeof(System.Runtime.CompilerServices.IsLong) } };
            il = d.DefineMethod("G", Static, CallingConventions.Standard, typeof(int), null, null, new[] { typeof(int) }, null, optional).GetILGenerator();
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Ret);
        }
        var both = d.CreateType().GetMethods(BindingFlags.Static | BindingFlags.Public);
        var c = Module("callers").DefineType("C", TypeAttributes.Public);
        il = c.DefineMethod("F", Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Call, both[0]);
        il.Emit(OpCodes.Ldc_I4_S, (byte)10);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Call, both[1]);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        Console.WriteLine(c.CreateType().GetMethod("F").Invoke(null, null));
        // The frame of a dynamic method that runs.
        var dm = new DynamicMethod("shown", typeof(string), Type.EmptyTypes, typeof(Uncreated));
        il = dm.GetILGenerator();
        il.Emit(OpCodes.Call, typeof(Uncreated).GetMethod("Trace"));
        il.Emit(OpCodes.Ret);
        Console.WriteLine(((Func<string>)dm.CreateDelegate(typeof(Func<string>)))());
    }
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    public static string Trace()
    {
        string names = "";
        foreach (var frame in new System.Diagnostics.StackTrace().GetFrames())
            names += frame.GetMethod().Name + " ";
        return names;
    }
}
