// Type arguments of what a program defines may violate constraints to interfaces, class, struct and new(): nothing is asked, as in mono. Of types in files it is.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

public class OfFile<T> where T : IDisposable { }

static class BrokenConstraints
{
    static void Try(string what, Func<object> get)
    {
        try
        {
            Console.WriteLine(what + " " + get());
        }
        catch (ArgumentException e)
        {
            Console.WriteLine(what + " " + e.ParamName);
        }
    }
    // A method that returns its type parameter.
    static void EmitTypeOf(ILGenerator il, Type parameter)
    {
        il.Emit(OpCodes.Ldtoken, parameter);
        il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
        il.Emit(OpCodes.Ret);
    }

    static void Main()
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("broken"), AssemblyBuilderAccess.Run);
        var builder = assembly.DefineDynamicModule("broken").DefineType("G", TypeAttributes.Public);
        var parameter = builder.DefineGenericParameters("T")[0];
        parameter.SetInterfaceConstraints(typeof(IDisposable));
        builder.DefineDefaultConstructor(MethodAttributes.Public);
        EmitTypeOf(builder.DefineMethod("M", MethodAttributes.Public, typeof(Type), Type.EmptyTypes).GetILGenerator(), parameter);
        var method = builder.DefineMethod("S", MethodAttributes.Public | MethodAttributes.Static);
        var own = method.DefineGenericParameters("U")[0];
        own.SetGenericParameterAttributes(GenericParameterAttributes.NotNullableValueTypeConstraint);
        method.SetReturnType(typeof(Type));
        EmitTypeOf(method.GetILGenerator(), own);
        var type = builder.CreateType();

        Try("type", () => type.MakeGenericType(typeof(string))); // expect: type G[System.String]
        var made = type.MakeGenericType(typeof(string));
        Try("instance", () => made.GetMethod("M").Invoke(Activator.CreateInstance(made), null)); // expect: instance System.String
        Try("method", () => made.GetMethod("S").MakeGenericMethod(typeof(Stream)).Invoke(null, null)); // expect: method System.IO.Stream
        Try("fitting", () => type.MakeGenericType(typeof(Stream)).GetMethod("S").MakeGenericMethod(typeof(int)).Invoke(null, null)); // expect: fitting System.Int32
        Try("of a file", () => typeof(OfFile<>).MakeGenericType(typeof(string))); // expect: of a file typeArguments
    }
}
