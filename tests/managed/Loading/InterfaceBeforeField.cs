// Of a class whose interface and whose field are of an assembly that is missing, code hears of the assembly: a program that can do without it
// catches FileNotFoundException.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class InterfaceBeforeField
{
    static string folder;

    static ModuleBuilder Module(string name, out AssemblyBuilder assembly)
    {
        assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        return assembly.DefineDynamicModule(name, name + ".dll");
    }

    static void Main()
    {
        folder = Path.Combine(Path.GetTempPath(), "interface-before-field-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        AssemblyBuilder lower, middle, upper;
        var missing = Module("missing", out lower);
        var i = missing.DefineType("ILate", TypeAttributes.Public | TypeAttributes.Interface | TypeAttributes.Abstract).CreateType();
        var s = missing.DefineType("Late", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType)).CreateType();
        lower.Save("missing.dll");
        var module = Module("logging", out middle);
        var logger = module.DefineType("Logger", TypeAttributes.Public);
        logger.AddInterfaceImplementation(i);
        logger.DefineField("Level", s, FieldAttributes.Public | FieldAttributes.Static);
        var instance = logger.DefineField("Instance", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
        logger.CreateType();
        middle.Save("logging.dll");
        var user = Module("user", out upper).DefineType("User", TypeAttributes.Public);
        var il = user.DefineMethod("Get", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldsfld, instance);
        il.Emit(OpCodes.Ret);
        user.CreateType();
        upper.Save("user.dll");
        File.Delete(Path.Combine(folder, "missing.dll"));
        var loaded = Assembly.LoadFrom(Path.Combine(folder, "user.dll")).GetType("User");
        Assembly.LoadFrom(Path.Combine(folder, "logging.dll"));
        var get = (Func<object>)Delegate.CreateDelegate(typeof(Func<object>), loaded.GetMethod("Get"));
        try { get(); }
        catch (FileNotFoundException e) { Console.WriteLine(e.FileName); }
        catch (TypeLoadException e) { Console.WriteLine(e.TypeName); }
        // expect: missing, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null
        Directory.Delete(folder, true);
    }
}
