// ldtoken of a member of a generic builder, in code that is not generic: the member of the definition is meant.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

static class OpenTokens
{
    static readonly ModuleBuilder module = AppDomain.CurrentDomain
        .DefineDynamicAssembly(new AssemblyName("open"), AssemblyBuilderAccess.Run).DefineDynamicModule("open");

    static object Run(TypeBuilder type, Type answer, Action<ILGenerator> write)
    {
        var method = type.DefineMethod("Get", MethodAttributes.Public | MethodAttributes.Static, answer, Type.EmptyTypes);
        write(method.GetILGenerator());
        return type.CreateType().GetMethod("Get").Invoke(null, null);
    }

    static void Main()
    {
        var generic = module.DefineType("G", TypeAttributes.Public);
        var variable = generic.DefineGenericParameters("T")[0];
        var data = generic.DefineInitializedData("data", new byte[] { 1, 0, 0, 0, 2, 0, 0, 0 }, FieldAttributes.Static | FieldAttributes.Public);
        var field = generic.DefineField("field", variable, FieldAttributes.Static | FieldAttributes.Public);
        var method = generic.DefineMethod("Method", MethodAttributes.Static | MethodAttributes.Public, typeof(void), Type.EmptyTypes);
        method.GetILGenerator().Emit(OpCodes.Ret);
        var created = generic.CreateType();

        var array = (int[])Run(module.DefineType("A"), typeof(int[]), il =>
        {
            il.Emit(OpCodes.Ldc_I4_2);
            il.Emit(OpCodes.Newarr, typeof(int));
            il.Emit(OpCodes.Dup);
            il.Emit(OpCodes.Ldtoken, data);
            il.Emit(OpCodes.Call, typeof(RuntimeHelpers).GetMethod("InitializeArray"));
            il.Emit(OpCodes.Ret);
        });
        Console.WriteLine(string.Join(",", array)); // expect: 1,2

        var handle = (RuntimeFieldHandle)Run(module.DefineType("F"), typeof(RuntimeFieldHandle), il =>
        {
            il.Emit(OpCodes.Ldtoken, field);
            il.Emit(OpCodes.Ret);
        });
        Console.WriteLine(FieldInfo.GetFieldFromHandle(handle, created.TypeHandle)); // expect: T field

        var named = (RuntimeMethodHandle)Run(module.DefineType("M"), typeof(RuntimeMethodHandle), il =>
        {
            il.Emit(OpCodes.Ldtoken, method);
            il.Emit(OpCodes.Ret);
        });
        Console.WriteLine(MethodBase.GetMethodFromHandle(named, created.TypeHandle)); // expect: Void Method()
        try
        {
            MethodBase.GetMethodFromHandle(named);
        }
        catch (ArgumentException)
        {
            Console.WriteLine("of a generic type"); // expect: of a generic type
        }

        // In a generic class of as many parameters, the class's own arguments are meant.
        var other = module.DefineType("O", TypeAttributes.Public);
        other.DefineGenericParameters("U");
        var get = other.DefineMethod("Get", MethodAttributes.Public | MethodAttributes.Static, typeof(RuntimeFieldHandle), Type.EmptyTypes);
        var code = get.GetILGenerator();
        code.Emit(OpCodes.Ldtoken, field);
        code.Emit(OpCodes.Ret);
        handle = (RuntimeFieldHandle)other.CreateType().MakeGenericType(typeof(int)).GetMethod("Get").Invoke(null, null);
        Console.WriteLine(FieldInfo.GetFieldFromHandle(handle, created.MakeGenericType(typeof(int)).TypeHandle)); // expect: System.Int32 field
    }
}
