// The assembly of a field's type is asked for by a resolve event whoever needs the class first: compiled code or reflection.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class ResolveFieldType
{
    static string folder;

    // NAMElate.dll with a struct, in a folder where nobody looks, and NAME.dll with a class that has a field of it and a method that makes one.
    static void MakeFiles(string name)
    {
        string late = Path.Combine(folder, "late");
        Directory.CreateDirectory(late);
        var save = AssemblyBuilderAccess.Save;
        var lower = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name + "late"), save, late);
        var type = lower.DefineDynamicModule("late", name + "late.dll").DefineType("Late", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType));
        type.DefineField("Number", typeof(int), FieldAttributes.Public);
        var made = type.CreateType();
        lower.Save(name + "late.dll");
        var upper = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), save, folder);
        var user = upper.DefineDynamicModule("user", name + ".dll").DefineType("User", TypeAttributes.Public);
        user.DefineField("Field", made, FieldAttributes.Public);
        var make = user.DefineMethod("Make", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        make.Emit(OpCodes.Newobj, user.DefineDefaultConstructor(MethodAttributes.Public));
        make.Emit(OpCodes.Ret);
        user.CreateType();
        upper.Save(name + ".dll");
    }
    static Type Load(string name) { return Assembly.LoadFrom(Path.Combine(folder, name + ".dll")).GetType("User"); }

    static void Main()
    {
        folder = Path.Combine(Path.GetTempPath(), "resolve-field-type-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        foreach (var name in new[] { "code", "reflection", "none" }) MakeFiles(name);
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
        {
            string name = new AssemblyName(e.Name).Name;
            Console.WriteLine("asked for " + name);
            string file = Path.Combine(folder, "late", name + ".dll");
            return name.StartsWith("none") || !File.Exists(file) ? null : Assembly.LoadFrom(file);
        };
        var make = (Func<object>)Delegate.CreateDelegate(typeof(Func<object>), Load("code").GetMethod("Make"));
        Console.WriteLine(make());
        // expect: asked for codelate
        // expect: User
        Console.WriteLine(Activator.CreateInstance(Load("reflection")));
        // expect: asked for reflectionlate
        // expect: User
        make = (Func<object>)Delegate.CreateDelegate(typeof(Func<object>), Load("none").GetMethod("Make"));
        try { make(); }
        catch (TypeLoadException e) { Console.WriteLine(e.TypeName + ": " + e.Message); }
        // expect: asked for nonelate
        // expect: User: Could not load type of field 'User:Field' (0) due to: Could not load file or assembly 'nonelate, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null' or one of its dependencies.
        Directory.Delete(folder, true);
    }
}
