// The modules of a saved assembly, those that have no metadata among them, and what it was saved from.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

static class SavedFiles
{
    static string dir;
    static void Try(string what, Func<object> make)
    {
        try {
            Console.WriteLine("{0}: {1}", what, make() ?? "null");
        } catch (Exception e) {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }
    static string Names(System.Collections.IEnumerable list)
    {
        return string.Join(" ", list.Cast<object>().Select(o => o is Type ? ((Type)o).Name : o is Module ? ((Module)o).ScopeName : o.ToString()).OrderBy(n => n, StringComparer.Ordinal));
    }
    static AssemblyBuilder Define(string name)
    {
        return AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.RunAndSave, dir);
    }

    static void Main()
    {
        dir = Path.Combine(Path.GetTempPath(), "vervet-files-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(dir);
        try {
            OtherName();
            Resources();
        } finally { Directory.Delete(dir, true); }
    }

    // The file of the assembly is none of its modules': that has a file of its own.
    static void OtherName()
    {
        Console.WriteLine("--- other name");
        var ab = Define("other");
        var mb = ab.DefineDynamicModule("first", "first.dll", false);
        mb.DefineType("Foo", TypeAttributes.Public).CreateType();
        Try("before", () => Names(ab.GetModules()));
        ab.Save("test_assembly.dll");
        Console.WriteLine(string.Join(" ", Directory.GetFiles(dir).Select(Path.GetFileName).OrderBy(n => n, StringComparer.Ordinal)));
        Try("after", () => Names(ab.GetModules()));
        var a = Assembly.LoadFrom(Path.Combine(dir, "test_assembly.dll"));
        Try("modules", () => a.GetModules().Length);
        Try("loaded", () => a.GetLoadedModules().Length);
        Try("types of modules", () => Names(a.GetModules().SelectMany(m => m.GetTypes())));
        Try("types", () => Names(a.GetTypes()));
        Try("type", () => a.GetType("Foo"));
        Try("exported", () => Names(a.GetExportedTypes()));
        Try("first", () => a.GetModule("first.dll") != null);
        Try("no module", () => a.GetModule("none.dll"));
        Try("full name", () => a.FullName);
        Try("manifest", () => a.ManifestModule.GetTypes().Length);
    }

    static void Resources()
    {
        Console.WriteLine("--- resources");
        File.WriteAllText(Path.Combine(dir, "res"), "FOO");
        var ab = Define("data");
        ab.AddResourceFile("res", "res");
        var mb = ab.DefineDynamicModule("data.dll", "data.dll");
        mb.DefineInitializedData("DATA", new byte[100], FieldAttributes.Public);
        mb.DefineInitializedData("DATA3", new byte[99], FieldAttributes.Public);
        mb.DefineUninitializedData("DATA4", 101, FieldAttributes.Public);
        mb.DefineInitializedData("PRIVATE", new byte[100], 0);
        mb.CreateGlobalFunctions();
        Try("fields before", () => Names(mb.GetFields().Select(f => f.Name)));
        ab.Save("data.dll");
        var a = Assembly.LoadFrom(Path.Combine(dir, "data.dll"));
        var m = a.GetLoadedModules()[0];
        Try("fields", () => Names(m.GetFields().Select(f => f.Name)));
        Try("private", () => m.GetField("PRIVATE"));
        Try("private", () => m.GetField("PRIVATE", BindingFlags.NonPublic | BindingFlags.Static) != null);
        Try("attributes", () => m.GetField("DATA4").Attributes);
        Try("modules", () => Names(a.GetModules()));
        Try("modules with resources", () => Names(a.GetModules(true)));
        Try("loaded with resources", () => Names(a.GetLoadedModules(true)));
        var res = a.GetModule("res");
        Try("module", () => res.ScopeName);
        Try("name", () => res.Name);
        Try("full name", () => Path.GetFileName(res.FullyQualifiedName));
        Try("is resource", () => res.IsResource());
        Try("is resource", () => m.IsResource());
        Try("types", () => res.GetTypes().Length);
        Try("fields", () => res.GetFields().Length);
        Try("methods", () => res.GetMethods().Length);
        Try("field", () => res.GetField("DATA"));
        Try("field", () => res.GetField("DATA", BindingFlags.Public));
        Try("method", () => res.GetMethod("M"));
        Try("type", () => res.GetType("T"));
        Try("assembly", () => res.Assembly == a);
        Try("names", () => Names(a.GetManifestResourceNames()));
        Try("resource", () => new StreamReader(a.GetManifestResourceStream("res")).ReadToEnd());
        Try("info", () => a.GetManifestResourceInfo("res").ResourceLocation);
        Try("info", () => a.GetManifestResourceInfo("res").FileName);
        Try("files", () => Names(a.GetFiles().Select(f => Path.GetFileName(f.Name))));
        Try("files", () => Names(a.GetFiles(true).Select(f => Path.GetFileName(f.Name))));
        Try("file", () => Path.GetFileName(a.GetFile("res").Name));
        Try("same", () => ReferenceEquals(res, a.GetModule("res")));
    }
}
