// An AssemblyBuilder that is only looked at, and one that answers a reference of an assembly that is looked at. The answer of the handler counts
// whatever its name, and whichever member of reflection needs it first.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

static class LookedAt
{
    static void Try(string what, Func<object> get)
    {
        try
        {
            Console.WriteLine("{0}: {1}", what, get() ?? "null");
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static AssemblyBuilder Parent(string name, AssemblyBuilderAccess access, string folder)
    {
        var builder = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), access, folder);
        var module = access == AssemblyBuilderAccess.ReflectionOnly ? builder.DefineDynamicModule(name + ".dll")
            : builder.DefineDynamicModule(name + ".dll", name + ".dll");
        var type = module.DefineType("Parent", TypeAttributes.Public);
        type.DefineField("Value", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        type.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, typeof(void), Type.EmptyTypes).GetILGenerator().Emit(OpCodes.Ret);
        type.CreateType();
        return builder;
    }

    static void Main()
    {
        var only = Parent("only", AssemblyBuilderAccess.ReflectionOnly, null);
        var type = only.GetType("Parent");
        Console.WriteLine(only.ReflectionOnly + " " + type.Assembly.ReflectionOnly); // expect: True True
        Try("new", () => Activator.CreateInstance(type)); // expect: new: InvalidOperationException
        Try("field", () => type.GetField("Value").GetValue(null)); // expect: field: InvalidOperationException
        Try("method", () => type.GetMethod("Run").Invoke(null, null)); // expect: method: InvalidOperationException
        Try("by name", () => Assembly.ReflectionOnlyLoad("only")); // expect: by name: FileNotFoundException
        Console.WriteLine(AppDomain.CurrentDomain.GetAssemblies().Contains(only)); // expect: False
        Console.WriteLine(AppDomain.CurrentDomain.ReflectionOnlyGetAssemblies().Contains(only)); // expect: True

        var folder = Path.Combine(Path.GetTempPath(), "looked-at-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        var parent = Parent("gone", AssemblyBuilderAccess.RunAndSave, folder);
        var derived = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("derived"), AssemblyBuilderAccess.Save, folder);
        derived.DefineDynamicModule("derived.dll", "derived.dll").DefineType("Derived", TypeAttributes.Public, parent.GetType("Parent")).CreateType();
        parent.Save("gone.dll");
        derived.Save("derived.dll");
        File.Delete(Path.Combine(folder, "gone.dll"));
        AppDomain.CurrentDomain.ReflectionOnlyAssemblyResolve += (sender, args) =>
        {
            Console.WriteLine("asked for " + new AssemblyName(args.Name).Name); // expect: asked for gone
            return only;
        };
        var loaded = Assembly.ReflectionOnlyLoadFrom(Path.Combine(folder, "derived.dll")).GetType("Derived");
        Console.WriteLine(loaded.BaseType.Assembly.GetName().Name); // expect: only
        Console.WriteLine(loaded.GetField("Value", BindingFlags.Static | BindingFlags.Public | BindingFlags.FlattenHierarchy)); // expect: System.Int32 Value
        Directory.Delete(folder, true);
    }
}
