// A constructor that a class no longer has is missing, whatever its parents have: it is not theirs that is called.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class MissingConstructors
{
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;

    // Classes with a constructor for an int, or without constructors at all: only the derived ones lack it.
    static AssemblyBuilder Library(string folder, bool isOld, out Type plain, out Type derived)
    {
        var builder = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Maker"), AssemblyBuilderAccess.RunAndSave, folder);
        var module = builder.DefineDynamicModule("Maker.dll", "Maker.dll");
        var parent = module.DefineType("Parent", TypeAttributes.Public);
        parent.DefineDefaultConstructor(MethodAttributes.Public);
        Define(module, "Plain", typeof(object), isOld, out plain);
        parent.CreateType();
        Define(module, "Derived", parent, isOld, out derived);
        builder.Save("Maker.dll");
        return builder;
    }
    static void Define(ModuleBuilder module, string name, Type parent, bool hasConstructor, out Type made)
    {
        var type = module.DefineType(name, TypeAttributes.Public, parent);
        type.DefineField("field", typeof(int), FieldAttributes.Public);
        if (hasConstructor) type.DefineDefaultConstructor(MethodAttributes.Public);
        else
        {
            var il = type.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new[] { typeof(int) }).GetILGenerator();
            il.Emit(OpCodes.Ret);
        }
        made = type.CreateType();
    }

    static void Use()
    {
        var loaded = Assembly.LoadFrom((string)AppDomain.CurrentDomain.GetData("user")).GetType("User");
        for (int i = 0; i < 2; i++)
            foreach (var name in new[] { "MakePlain", "MakeDerived" })
            {
                var make = (Func<object>)Delegate.CreateDelegate(typeof(Func<object>), loaded.GetMethod(name));
                try { Console.WriteLine(name + " " + make().GetType()); }
                catch (Exception e) { Console.WriteLine(name + " " + e.GetType().Name + " " + e.Message); }
            }
    }

    static void Main()
    {
        var folder = Path.Combine(Path.GetTempPath(), "MissingConstructors" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        try
        {
            Type plain, derived, other;
            Library(folder, true, out plain, out derived);
            var user = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("MakersUser"), AssemblyBuilderAccess.Save, folder);
            var module = user.DefineDynamicModule("MakersUser.dll", "MakersUser.dll");
            var type = module.DefineType("User", TypeAttributes.Public);
            foreach (var used in new[] { plain, derived })
            {
                var il = type.DefineMethod("Make" + used.Name, Static, typeof(object), Type.EmptyTypes).GetILGenerator();
                il.Emit(OpCodes.Newobj, used.GetConstructor(Type.EmptyTypes));
                il.Emit(OpCodes.Ret);
            }
            type.CreateType();
            user.Save("MakersUser.dll");
            File.Delete(Path.Combine(folder, "Maker.dll"));
            Library(folder, false, out plain, out other);
            // (In a domain that knows nothing of the builders.)
            var domain = AppDomain.CreateDomain("user");
            domain.SetData("user", Path.Combine(folder, "MakersUser.dll"));
            domain.DoCallBack(Use);
            AppDomain.Unload(domain);
        }
        finally { Directory.Delete(folder, true); }
    }
}
