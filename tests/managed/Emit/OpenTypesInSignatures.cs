// A generic definition in a signature is that definition, also where there are no arguments for its parameters.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

class Holder<T> { }
struct Value<T> { }

static class OpenTypesInSignatures
{
    static void Main()
    {
        var module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("built"), AssemblyBuilderAccess.Run).DefineDynamicModule("built");
        var types = new[] { typeof(Holder<int>), typeof(Holder<>), typeof(Holder<>).MakeArrayType(), typeof(Dictionary<,>) };
        for (int i = 0; i < types.Length; i++)
        {
            var global = module.DefineGlobalMethod("Global" + i, MethodAttributes.Public | MethodAttributes.Static, types[i], new[] { types[i] }).GetILGenerator();
            global.Emit(OpCodes.Ldnull);
            global.Emit(OpCodes.Ret);
        }
        module.CreateGlobalFunctions();
        for (int i = 0; i < types.Length; i++)
        {
            var method = module.GetMethod("Global" + i);
            Console.WriteLine(method + " " + (method.GetParameters()[0].ParameterType == types[i]) + " " + (method.Invoke(null, new object[] { null }) == null));
        }
        // expect: Holder`1[System.Int32] Global0(Holder`1[System.Int32]) True True
        // expect: Holder`1[T] Global1(Holder`1[T]) True True
        // expect: Holder`1[T][] Global2(Holder`1[T][]) True True
        // expect: System.Collections.Generic.Dictionary`2[TKey,TValue] Global3(System.Collections.Generic.Dictionary`2[TKey,TValue]) True True
        var type = module.DefineType("User", TypeAttributes.Public);
        type.DefineField("Field", typeof(Holder<>), FieldAttributes.Public | FieldAttributes.Static);
        var get = type.DefineMethod("Get", MethodAttributes.Public | MethodAttributes.Static, typeof(RuntimeTypeHandle[]), Type.EmptyTypes).GetILGenerator();
        get.DeclareLocal(typeof(Holder<>));
        get.Emit(OpCodes.Ldc_I4_2);
        get.Emit(OpCodes.Newarr, typeof(RuntimeTypeHandle));
        for (int i = 0; i < 2; i++)
        {
            get.Emit(OpCodes.Dup);
            get.Emit(OpCodes.Ldc_I4, i);
            get.Emit(OpCodes.Ldtoken, i == 0 ? typeof(Holder<>) : typeof(Value<>));
            get.Emit(OpCodes.Stelem, typeof(RuntimeTypeHandle));
        }
        get.Emit(OpCodes.Ret);
        var made = type.CreateType();
        Console.WriteLine(made.GetField("Field").FieldType == typeof(Holder<>));
        // expect: True
        foreach (var handle in (RuntimeTypeHandle[])made.GetMethod("Get").Invoke(null, null)) Console.WriteLine(Type.GetTypeFromHandle(handle));
        // expect: Holder`1[T]
        // expect: Value`1[T]
    }
}
