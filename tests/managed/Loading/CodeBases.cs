// A path may be a `file://` URI whose escapes stand for themselves, as the URI in Assembly.CodeBase has none. LoadFile takes none. What has no end is no assembly.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class CodeBases
{
    static string folder;

    static void Try(string what, Func<string> action)
    {
        string text;
        try { text = action(); }
        catch (FileNotFoundException e) { text = e.GetType().Name + " " + e.FileName; }
        catch (BadImageFormatException e) { text = e.GetType().Name + " " + e.FileName; }
        catch (ArgumentException e) { text = e.GetType().Name + " " + e.Message; }
        Console.WriteLine(what + ": " + text.Replace(Environment.NewLine, " ").Replace(folder, "~").TrimEnd());
    }

    static void Write(string name, string file)
    {
        AssemblyBuilder builder = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        builder.DefineDynamicModule(name, name + ".dll").DefineType("T", TypeAttributes.Public).CreateType();
        builder.Save(name + ".dll");
        File.Move(Path.Combine(folder, name + ".dll"), Path.Combine(folder, file));
    }

    static void Main()
    {
        folder = Path.Combine(Path.GetTempPath(), "code bases-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            Write("Blank", "a b.dll");
            Write("Escape", "a%20c.dll");
            Write("Other", "é#.dll");
            string uri = "file://" + folder + "/";
            Try("escaped", () => Assembly.LoadFrom(uri + "a%20b.dll").Location); // expect: escaped: FileNotFoundException file://~/a%20b.dll
            Try("blank", () => Assembly.LoadFrom(uri + "a b.dll").Location); // expect: blank: ~/a b.dll
            Try("by its code base", () => Assembly.LoadFrom(Assembly.LoadFrom(uri + "a b.dll").CodeBase).Location); // expect: by its code base: ~/a b.dll
            Try("name of an escape", () => Assembly.LoadFrom(uri + "a%20c.dll").Location); // expect: name of an escape: ~/a%20c.dll
            Try("its code base", () => Assembly.LoadFrom(uri + "a%20c.dll").CodeBase); // expect: its code base: file://~/a%20c.dll
            Try("looked at", () => Assembly.ReflectionOnlyLoadFrom(uri + "a%20b.dll").Location); // expect: looked at: FileNotFoundException file://~/a%20b.dll
            Try("LoadFile", () => Assembly.LoadFile(uri + "a b.dll").Location); // expect: LoadFile: ArgumentException Absolute path information is required. Parameter name: assemblyFile
            Try("code base of a name", () => AssemblyName.GetAssemblyName(Path.Combine(folder, "a b.dll")).CodeBase); // expect: code base of a name: file://~/a b.dll
            Try("another", () => AssemblyName.GetAssemblyName(Path.Combine(folder, "é#.dll")).CodeBase); // expect: another: file://~/é#.dll
            Try("nothing", () => Assembly.ReflectionOnlyLoadFrom("").Location); // expect: nothing: FileNotFoundException
            Try("without end", () => AssemblyName.GetAssemblyName("/dev/zero").FullName); // expect: without end: BadImageFormatException /dev/zero
        }
        finally { Directory.Delete(folder, true); }
    }
}
