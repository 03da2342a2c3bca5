// A file that is loaded need not be there any more. What is no file is no assembly.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Gone
{
    static void Try(string what, Func<object> action)
    {
        string text;
        try { text = action().ToString(); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine(what + ": " + text);
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "gone-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            AssemblyBuilder builder = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Lib"), AssemblyBuilderAccess.Save, folder);
            builder.DefineDynamicModule("Lib", "Lib.dll").DefineType("T", TypeAttributes.Public).CreateType();
            builder.Save("Lib.dll");
            string file = Path.Combine(folder, "Lib.dll");
            Assembly assembly = Assembly.LoadFrom(file);
            File.Delete(file);
            Try("LoadFrom", () => Assembly.LoadFrom(file) == assembly); // expect: LoadFrom: True
            Try("LoadFile", () => Assembly.LoadFile(file) == assembly); // expect: LoadFile: True
            Try("another", () => Assembly.LoadFrom(file + "x")); // expect: another: FileNotFoundException
            Try("nothing", () => Assembly.LoadFrom("")); // expect: nothing: FileNotFoundException
            Try("LoadFrom a directory", () => Assembly.LoadFrom(folder)); // expect: LoadFrom a directory: BadImageFormatException
            Try("LoadFile a directory", () => Assembly.LoadFile(folder)); // expect: LoadFile a directory: BadImageFormatException
            Try("a device", () => Assembly.LoadFrom("/dev/null")); // expect: a device: BadImageFormatException
        }
        finally { Directory.Delete(folder, true); }
    }
}
