// Private directories that are appended or cleared while a domain runs count from then on.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class PrivatePath
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }

    static void Make(string folder, string name)
    {
        string to = Path.Combine(Folder, folder);
        Directory.CreateDirectory(to);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, to);
        assembly.DefineDynamicModule(name, name + ".dll").DefineType("T", TypeAttributes.Public).CreateType();
        assembly.Save(name + ".dll");
    }

    static void Try(string name)
    {
        string text;
        try { text = Path.GetDirectoryName(Assembly.Load(name).Location).Replace(Folder, ""); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine("  " + name + ": " + text);
    }

    static void InDomain()
    {
        AppDomain domain = AppDomain.CurrentDomain;
        Try("One");
        domain.AppendPrivatePath("bin");
        Console.WriteLine("  " + domain.SetupInformation.PrivateBinPath);
        Try("One");
        Try("Two");
        domain.AppendPrivatePath("more");
        Console.WriteLine("  " + domain.SetupInformation.PrivateBinPath);
        Try("Two");
        Try("Three");
        domain.ClearPrivatePath();
        Console.WriteLine("  " + domain.SetupInformation.PrivateBinPath);
        Try("One");
        Try("Four");
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "private-" + Guid.NewGuid());
        AppDomain.CurrentDomain.SetData("folder", folder);
        try
        {
            foreach (string file in new[] { "bin/One", "more/Two", "more/Three", "more/Four", "first/Two" }) Make(Path.GetDirectoryName(file), Path.GetFileName(file));
            File.Copy(typeof(PrivatePath).Assembly.Location, Path.Combine(folder, Path.GetFileName(typeof(PrivatePath).Assembly.Location)));
            foreach (string first in new[] { null, "first" })
                {
                    Console.WriteLine(first ?? "none");
                    AppDomain domain = AppDomain.CreateDomain("domain", null, new AppDomainSetup { ApplicationBase = folder, PrivateBinPath = first });
                    domain.SetData("folder", folder);
                    domain.DoCallBack(InDomain);
                    AppDomain.Unload(domain);
                }
        }
        finally { Directory.Delete(folder, true); }
    }
}
