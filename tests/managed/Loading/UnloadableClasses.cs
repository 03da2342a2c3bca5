// What code gets that names classes whose parent, interface or field's type is in a file that is missing. Whoever asks first for a class without its parent or
// interface gets the cause, or, as the operand of an instruction, a TypeLoadException without it; later uses a TypeLoadException about the class.
// `typeof` does not look at fields; casts and arrays do.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class UnloadableClasses
{
    const TypeAttributes Public = TypeAttributes.Public;
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;
    static TypeBuilder calls;
    static readonly List<string> names = new List<string>();

    /// A method of the class Calls that returns an object.
    static void Call(string name, Action<ILGenerator> body)
    {
        ILGenerator il = calls.DefineMethod(name, Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        body(il);
        il.Emit(OpCodes.Ret);
        names.Add(name);
    }

    /// A class with a constructor, a static method and a static field.
    static Type Define(ModuleBuilder module, string name, Type parent, Type face, Type field)
    {
        TypeBuilder type = module.DefineType(name, Public, parent);
        if (face != null) type.AddInterfaceImplementation(face);
        if (field != null) type.DefineField("v", field, FieldAttributes.Public);
        type.DefineField("s", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        if (parent != typeof(ValueType)) type.DefineDefaultConstructor(MethodAttributes.Public);
        ILGenerator il = type.DefineMethod("M", Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Ret);
        return type.CreateType();
    }

    static void Use(string kind, Type type)
    {
        Call("typeof " + kind, il =>
        {
            il.Emit(OpCodes.Ldtoken, type);
            il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
            il.Emit(OpCodes.Callvirt, typeof(MemberInfo).GetProperty("Name").GetGetMethod());
        });
        if (!type.IsValueType) Call("new " + kind, il => il.Emit(OpCodes.Newobj, type.GetConstructor(Type.EmptyTypes)));
        Call("is " + kind, il => { il.Emit(OpCodes.Ldstr, ""); il.Emit(OpCodes.Isinst, type); });
        Call("array of " + kind, il => { il.Emit(OpCodes.Ldc_I4_0); il.Emit(OpCodes.Newarr, type); });
        Call("call " + kind, il => { il.Emit(OpCodes.Call, type.GetMethod("M")); il.Emit(OpCodes.Box, typeof(int)); });
        Call("field " + kind, il => { il.Emit(OpCodes.Ldsfld, type.GetField("s")); il.Emit(OpCodes.Box, typeof(int)); });
        // Of the others, mono says in different words that they cannot be loaded, depending on what was asked before.
        if (kind == "Parent" || kind == "Face") Call("list of " + kind, il => il.Emit(OpCodes.Newobj, typeof(List<>).MakeGenericType(type).GetConstructor(Type.EmptyTypes)));
        if (!type.IsValueType) Call("is array of " + kind, il => { il.Emit(OpCodes.Ldstr, ""); il.Emit(OpCodes.Isinst, type.MakeArrayType()); });
    }

    /// Writes GoneLib.dll, GoneUser.dll, whose classes use it, and GoneCalls.dll, whose methods use these; GoneLib.dll is deleted again.
    static void Write(string folder)
    {
        AssemblyBuilder lib = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("GoneLib"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder module = lib.DefineDynamicModule("GoneLib", "GoneLib.dll");
        TypeBuilder p = module.DefineType("P", Public);
        p.DefineDefaultConstructor(MethodAttributes.Public);
        Type parent = p.CreateType();
        Type face = module.DefineType("I", Public | TypeAttributes.Interface | TypeAttributes.Abstract).CreateType();
        Type value = module.DefineType("V", Public, typeof(ValueType)).CreateType();
        AssemblyBuilder user = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("GoneUser"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder types = user.DefineDynamicModule("GoneUser", "GoneUser.dll");
        Type[] used =
        {
            Define(types, "Parent", parent, null, null), Define(types, "Face", typeof(object), face, null), Define(types, "Field", typeof(object), null, value),
            Define(types, "Struct", typeof(ValueType), null, value), null
        };
        used[4] = Define(types, "FieldsChild", used[2], null, null);
        AssemblyBuilder caller = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("GoneCalls"), AssemblyBuilderAccess.Save, folder);
        calls = caller.DefineDynamicModule("GoneCalls", "GoneCalls.dll").DefineType("Calls", Public);
        foreach (Type type in used) Use(type.Name, type);
        calls.CreateType();
        lib.Save("GoneLib.dll");
        user.Save("GoneUser.dll");
        caller.Save("GoneCalls.dll");
        File.Delete(Path.Combine(folder, "GoneLib.dll"));
    }

    /// Calls a method twice.
    static void Run(string folder, string name)
    {
        Type type = Assembly.LoadFrom(Path.Combine(folder, "GoneCalls.dll")).GetType("Calls");
        for (int i = 0; i < 2; i++)
        {
            string text;
            try { text = "" + type.GetMethod(name).Invoke(null, null); }
            catch (Exception e)
            {
                if (e is TargetInvocationException) e = e.InnerException;
                text = e.GetType().Name;
                for (; e != null; e = e.InnerException) text += " [" + e.Message + (e is TypeLoadException ? "|" + ((TypeLoadException)e).TypeName : "") + "]";
            }
            Console.WriteLine(name + ": " + text.Replace(folder, "").Replace("GoneLib, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null", "GoneLib"));
        }
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "gone-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            Write(folder);
            foreach (string name in names) Run(folder, name);
        }
        finally { Directory.Delete(folder, true); }
    }
}
