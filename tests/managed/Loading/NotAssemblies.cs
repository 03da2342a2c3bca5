// A file that holds no assembly answers no name: the next one is looked for, and at last AssemblyResolve is raised. A build for another class library counts as one. What
// is refused, or loaded already, does not stay mapped.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

static class NotAssemblies
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }

    static string Make(string folder, string name)
    {
        Directory.CreateDirectory(folder);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        assembly.DefineDynamicModule(name, name + ".dll").DefineType("Made", TypeAttributes.Public).CreateType();
        assembly.Save(name + ".dll");
        return Path.Combine(folder, name + ".dll");
    }

    static void Try(string what, Func<object> action)
    {
        string text;
        try { text = (action() ?? "null").ToString(); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine(what + ": " + text.Replace(Folder, "folder"));
    }

    static int Mapped(string file) { return File.ReadLines("/proc/self/maps").Count(line => line.EndsWith(file)); }

    static void InDomain()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
        {
            if (!e.Name.StartsWith("Cut2")) Console.WriteLine("  resolve " + e.Name);
            return e.Name.StartsWith("Given") ? Assembly.LoadFrom(Path.Combine(Folder, "other", "Given.dll")) : null;
        };
        foreach (string name in new[] { "Given", "Empty", "Native", "Cut" })
        {
            Try("Load", () => Assembly.Load(name).Location);
            Try("GetType", () => Type.GetType("Made, " + name));
            Try("CreateInstance", () => Activator.CreateInstance(name, "Made").Unwrap());
            Try("partial", () => Assembly.LoadWithPartialName(name));
        }
        Try("the next file", () => Assembly.Load("Next").Location);
        string cut = Path.Combine(Folder, "application", "Cut.dll"), twice = Path.Combine(Folder, "other", "Next.dll");
        for (int i = 0; i < 20; i++)
        {
            try { Assembly.LoadFrom(cut); Console.WriteLine("loaded"); } catch (BadImageFormatException) { }
            Assembly.LoadFrom(twice);
            Type.GetType("Made, Cut2");
        }
        Console.WriteLine("mapped: " + Mapped(cut) + " " + Mapped(twice) + " " + Mapped("Cut2.dll"));
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "no-assemblies-" + Guid.NewGuid()), application = Path.Combine(folder, "application");
        try
        {
            byte[] good = File.ReadAllBytes(Make(Path.Combine(folder, "other"), "Given"));
            Directory.CreateDirectory(application);
            foreach (string name in new[] { "Given", "Cut", "Cut2" }) File.WriteAllBytes(Path.Combine(application, name + ".dll"), good.Take(300).ToArray());
            File.WriteAllText(Path.Combine(application, "Empty.dll"), "");
            File.WriteAllText(Path.Combine(application, "Native.dll"), "\x7f" + "ELF" + new string('x', 5000));
            File.WriteAllText(Path.Combine(application, "Next.dll"), "none");
            Make(Path.Combine(application, "Next"), "Next");
            Make(Path.Combine(folder, "other"), "Next");
            File.Copy(typeof(NotAssemblies).Assembly.Location, Path.Combine(application, Path.GetFileName(typeof(NotAssemblies).Assembly.Location)));
            AppDomain domain = AppDomain.CreateDomain("one", null, new AppDomainSetup { ApplicationBase = application });
            domain.SetData("folder", folder);
            domain.DoCallBack(InDomain);
        }
        finally { Directory.Delete(folder, true); }
    }
}
