// Type arguments that cannot be loaded: of the parent of a class, of an interface, of a method that is called. And what reflection says of a class with a field, a
// nested type or a method's constraint of a type that is missing.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class UnloadableArguments
{
    const TypeAttributes Public = TypeAttributes.Public;
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;
    static TypeBuilder calls;
    static readonly List<string> names = new List<string>();

    static void Call(string name, Action<ILGenerator> body)
    {
        ILGenerator il = calls.DefineMethod(name, Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        body(il);
        il.Emit(OpCodes.Ret);
        names.Add(name);
    }

    /// A class with a static method that returns 1.
    static TypeBuilder Define(ModuleBuilder module, string name, Type parent)
    {
        TypeBuilder type = module.DefineType(name, Public, parent);
        type.DefineDefaultConstructor(MethodAttributes.Public);
        ILGenerator il = type.DefineMethod("M", Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Ret);
        return type;
    }

    static void Use(Type type)
    {
        string kind = type.Name;
        Call("call " + kind, il => { il.Emit(OpCodes.Call, type.GetMethod("M")); il.Emit(OpCodes.Box, typeof(int)); });
        Call("new " + kind, il => il.Emit(OpCodes.Newobj, type.GetConstructor(Type.EmptyTypes)));
        Call("is " + kind, il => { il.Emit(OpCodes.Ldstr, ""); il.Emit(OpCodes.Isinst, type); });
        Call("typeof " + kind, il =>
        {
            il.Emit(OpCodes.Ldtoken, type);
            il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
        });
        Call("argument " + kind, il => il.Emit(OpCodes.Call, typeof(Array).GetMethod("Empty").MakeGenericMethod(type)));
    }

    static void Write(string folder)
    {
        AssemblyBuilder lib = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("AbsentLib"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder module = lib.DefineDynamicModule("AbsentLib", "AbsentLib.dll");
        TypeBuilder p = module.DefineType("P", Public);
        p.DefineDefaultConstructor(MethodAttributes.Public);
        Type missing = p.CreateType();
        AssemblyBuilder user = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("AbsentUser"), AssemblyBuilderAccess.Save, folder);
        ModuleBuilder types = user.DefineDynamicModule("AbsentUser", "AbsentUser.dll");
        Type derived = Define(types, "Derived", missing).CreateType();
        Type parent = Define(types, "OverParent", typeof(List<>).MakeGenericType(derived)).CreateType();
        TypeBuilder field = Define(types, "Field", typeof(object));
        field.DefineField("F", missing, FieldAttributes.Public);
        field.CreateType();
        TypeBuilder nest = Define(types, "Nest", typeof(object));
        TypeBuilder inner = nest.DefineNestedType("Inner", TypeAttributes.NestedPublic, missing);
        TypeBuilder other = nest.DefineNestedType("Other", TypeAttributes.NestedPublic);
        nest.CreateType();
        inner.CreateType();
        other.CreateType();
        TypeBuilder bound = Define(types, "Bound", typeof(object));
        MethodBuilder generic = bound.DefineMethod("G", Static, typeof(void), Type.EmptyTypes);
        generic.DefineGenericParameters("T")[0].SetBaseTypeConstraint(missing);
        generic.GetILGenerator().Emit(OpCodes.Ret);
        bound.CreateType();
        AssemblyBuilder caller = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("AbsentCalls"), AssemblyBuilderAccess.Save, folder);
        calls = caller.DefineDynamicModule("AbsentCalls", "AbsentCalls.dll").DefineType("Calls", Public);
        Use(parent);
        Call("argument", il => il.Emit(OpCodes.Call, typeof(Array).GetMethod("Empty").MakeGenericMethod(derived)));
        calls.CreateType();
        lib.Save("AbsentLib.dll");
        user.Save("AbsentUser.dll");
        caller.Save("AbsentCalls.dll");
        File.Delete(Path.Combine(folder, "AbsentLib.dll"));
    }

    static void Try(string folder, string name, Func<object> action)
    {
        for (int i = 0; i < 2; i++)
        {
            string text;
            try { text = "" + action(); }
            catch (Exception e)
            {
                if (e is TargetInvocationException) e = e.InnerException;
                text = e.GetType().Name + " [" + e.Message + "]";
            }
            Console.WriteLine(name + ": " + text.Replace(folder, "").Replace(", Version=0.0.0.0, Culture=neutral, PublicKeyToken=null", ""));
        }
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "absent-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            Write(folder);
            Type type = Assembly.LoadFrom(Path.Combine(folder, "AbsentCalls.dll")).GetType("Calls");
            foreach (string name in names) Try(folder, name, () => type.GetMethod(name).Invoke(null, null));
            Assembly user = Assembly.LoadFrom(Path.Combine(folder, "AbsentUser.dll"));
            Type field = user.GetType("Field"), nest = user.GetType("Nest"), bound = user.GetType("Bound");
            Try(folder, "assignable to", () => field.IsAssignableFrom(typeof(string)));
            Try(folder, "assignable from", () => typeof(IDisposable).IsAssignableFrom(field));
            Try(folder, "instance", () => field.IsInstanceOfType(""));
            Try(folder, "null", () => field.IsInstanceOfType(null));
            Try(folder, "array", () => Array.CreateInstance(field, 1));
            Try(folder, "map", () => field.GetInterfaceMap(typeof(IDisposable)));
            Try(folder, "nested", () => nest.GetNestedTypes().Length + " " + nest.GetNestedType("Inner") + " " + nest.GetNestedType("Other"));
            Try(folder, "methods", () => bound.GetMethods());
            Try(folder, "method", () => bound.GetMethod("M"));
            Try(folder, "constructors", () => bound.GetConstructors());
        }
        finally { Directory.Delete(folder, true); }
    }
}
