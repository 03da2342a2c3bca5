// AssemblyName.GetAssemblyName: what is no file is a bad image, and a module without a manifest has no name.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class NamesOfFiles
{
    static void Try(string what, string path, string folder)
    {
        string text;
        try { text = AssemblyName.GetAssemblyName(path).ToString(); }
        catch (ArgumentException e) { text = e.GetType().Name + " " + e.Message.Replace(Environment.NewLine, " ") + " " + e.ParamName; }
        catch (BadImageFormatException e) { text = e.GetType().Name + " " + e.Message + " " + e.FileName.Replace(folder, "~"); }
        catch (FileNotFoundException e) { text = e.GetType().Name + " " + e.FileName.Replace(folder, "~"); }
        Console.WriteLine(what + ": " + text);
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "names-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            AssemblyBuilder builder = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Main"), AssemblyBuilderAccess.Save, folder);
            builder.DefineDynamicModule("Main", "Main.dll").DefineType("T", TypeAttributes.Public).CreateType();
            builder.DefineDynamicModule("Other", "Other.netmodule").DefineType("U", TypeAttributes.Public).CreateType();
            builder.Save("Main.dll");
            File.WriteAllText(Path.Combine(folder, "text"), "text");
            File.WriteAllText(Path.Combine(folder, "empty"), "");
            Try("assembly", Path.Combine(folder, "Main.dll"), folder); // expect: assembly: Main, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null
            Try("module", Path.Combine(folder, "Other.netmodule"), folder); // expect: module: ArgumentException The file does not contain a manifest Parameter name: assemblyFile assemblyFile
            Try("directory", folder, folder); // expect: directory: BadImageFormatException Invalid Image ~
            Try("root", "/", folder); // expect: root: BadImageFormatException Invalid Image /
            Try("device", "/dev/null", folder); // expect: device: BadImageFormatException Invalid Image /dev/null
            Try("text", Path.Combine(folder, "text"), folder); // expect: text: BadImageFormatException Invalid Image ~/text
            Try("empty", Path.Combine(folder, "empty"), folder); // expect: empty: BadImageFormatException Invalid Image ~/empty
            Try("missing", Path.Combine(folder, "missing"), folder); // expect: missing: FileNotFoundException ~/missing
        }
        finally { Directory.Delete(folder, true); }
    }
}
