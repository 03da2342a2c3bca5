// Instantiations of a generic type that has been defined and not created: they have no Type object, methods over them cannot be called, and `ldtoken` asks for the type.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

static class UncreatedInstances
{
    static void Try(string what, Func<object> action)
    {
        try { Console.WriteLine(what + ": " + action()); }
        catch (Exception e)
        {
            if (e is TargetInvocationException) e = e.InnerException;
            Console.WriteLine(what + ": " + e.GetType().Name + " " + e.Message + (e is TypeLoadException ? " " + ((TypeLoadException)e).TypeName : ""));
        }
    }

    static void Reflect(bool isStruct)
    {
        ModuleBuilder module = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("A"), AssemblyBuilderAccess.Run).DefineDynamicModule("A");
        TypeBuilder late = module.DefineType("Late", TypeAttributes.Public, isStruct ? typeof(ValueType) : typeof(object));
        late.DefineGenericParameters("T");
        Type instance = late.MakeGenericType(typeof(int));
        TypeBuilder user = module.DefineType("User", TypeAttributes.Public | TypeAttributes.Abstract);
        user.DefineField("One", instance, FieldAttributes.Public);
        user.DefineField("Array", instance.MakeArrayType(), FieldAttributes.Public);
        user.DefineField("List", typeof(List<>).MakeGenericType(instance), FieldAttributes.Public);
        user.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Abstract | MethodAttributes.Virtual, instance, new[] { instance });
        Type type = user.CreateType();
        for (int i = 0; i < 2; i++)
        {
            foreach (string name in new[] { "One", "Array", "List" }) Try(name, () => type.GetField(name).FieldType);
            Try("result", () => type.GetMethod("M").ReturnType);
            Try("parameter", () => type.GetMethod("M").GetParameters()[0].ParameterType);
            if (i == 0) late.CreateType();
        }
    }

    static void Run(bool isToken, bool isStruct)
    {
        ModuleBuilder module = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("B"), AssemblyBuilderAccess.Run).DefineDynamicModule("B");
        TypeBuilder late = module.DefineType("Late", TypeAttributes.Public, isStruct ? typeof(ValueType) : typeof(object));
        late.DefineGenericParameters("T");
        Type instance = late.MakeGenericType(typeof(int));
        TypeBuilder user = module.DefineType("User", TypeAttributes.Public);
        ILGenerator il = user.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        if (isToken)
        {
            il.Emit(OpCodes.Ldtoken, instance);
            il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
        }
        else il.Emit(OpCodes.Call, typeof(Array).GetMethod("Empty").MakeGenericMethod(instance));
        il.Emit(OpCodes.Ret);
        MethodInfo method = user.CreateType().GetMethod("M");
        ResolveEventHandler asked = (o, e) =>
        {
            Console.WriteLine("asked for " + e.Name);
            late.CreateType();
            return module.Assembly;
        };
        AppDomain.CurrentDomain.TypeResolve += asked;
        for (int i = 0; i < 2; i++)
        {
            Try(isToken ? "token" : "argument", () => method.Invoke(null, null));
            if (!late.IsCreated()) late.CreateType();
        }
        AppDomain.CurrentDomain.TypeResolve -= asked;
    }

    static void Main()
    {
        foreach (bool isStruct in new[] { false, true })
        {
            Reflect(isStruct);
            Run(true, isStruct);
            Run(false, isStruct);
        }
    }
}
