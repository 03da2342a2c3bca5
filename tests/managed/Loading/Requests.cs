// A request is a name, a culture and, of a strong name, a version and a token: it is compared with everything that is loaded, and what AssemblyResolve has answered
// belongs to the request that it was asked for.
using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

static class Requests
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }
    static readonly byte[] first = typeof(object).Assembly.GetName().GetPublicKey();

    static byte[] Second { get { return AssemblyName.GetAssemblyName(Path.Combine(Path.GetDirectoryName(typeof(object).Assembly.Location), "System.Configuration.dll")).GetPublicKey(); } }

    /// An assembly whose type's method calls another's or gives a text.
    static Type Make(string folder, string name, int version, byte[] key, string culture = "", Type called = null)
    {
        folder = Path.Combine(Folder, folder);
        Directory.CreateDirectory(folder);
        var full = new AssemblyName(name) { Version = new Version(version, 0, 0, 0), CultureInfo = new CultureInfo(culture) };
        if (key != null) full.SetPublicKey(key);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(full, AssemblyBuilderAccess.RunAndSave, folder);
        TypeBuilder type = assembly.DefineDynamicModule(name, name + ".dll").DefineType("T", TypeAttributes.Public);
        ILGenerator il = type.DefineMethod("Text", MethodAttributes.Public | MethodAttributes.Static, typeof(string), Type.EmptyTypes).GetILGenerator();
        if (called != null) il.Emit(OpCodes.Call, called.GetMethod("Text")); else il.Emit(OpCodes.Ldstr, folder.Substring(Folder.Length + 1));
        il.Emit(OpCodes.Ret);
        type.CreateType();
        assembly.Save(name + ".dll");
        return Assembly.LoadFile(Path.Combine(folder, name + ".dll")).GetType("T");
    }

    static string At(string file) { return Path.Combine(Folder, file); }

    static Assembly Load(string how, string file)
    {
        return how == "bytes" ? Assembly.Load(File.ReadAllBytes(At(file))) : how == "LoadFile" ? Assembly.LoadFile(At(file)) : Assembly.LoadFrom(At(file));
    }

    static string Text(Assembly assembly)
    {
        try { return (string)assembly.GetType("T").GetMethod("Text").Invoke(null, null); }
        catch (TargetInvocationException e) { return e.InnerException.GetType().Name; }
    }

    static void Try(string what, Func<string> action)
    {
        string text;
        try { text = action(); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine("  " + what + ": " + text);
    }

    static void InDomain()
    {
        string what = (string)AppDomain.CurrentDomain.GetData("what");
        bool gives = what.StartsWith("references");
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
        {
            Console.WriteLine("    resolve " + e.Name + (e.RequestingAssembly == null ? "" : " for " + e.RequestingAssembly.GetName().Name));
            Version version = new AssemblyName(e.Name).Version;
            return gives && version != null ? Assembly.LoadFile(At("a" + version.Major + "/Lib.dll")) : null;
        };
        const string token = ", Culture=neutral, PublicKeyToken=b77a5c561934e089", other = ", Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a";
        if (!gives)
        {
            foreach (string file in new[] { "a1/Lib.dll", "a2/Lib.dll", "b2/Lib.dll", "w1/Weak.dll", "w2/Weak.dll", "de/Sat.resources.dll" }) Load(what, file);
            foreach (string name in new[] { "Lib", "LIB", "Lib, Version=2.0.0.0", "Lib, Version=1.0.0.0" + token, "Lib, Version=2.0.0.0" + token, "Lib, Version=2.0.0.0" + other,
                "lib, Version=2.0.0.0" + token, "Lib, Version=3.0.0.0" + token, "Lib, Version=1.0.0.0" + other, "Lib" + other, "Lib, Version=2.0.0.0, Culture=fr, PublicKeyToken=b77a5c561934e089",
                "Weak, Version=2.0.0.0", "Weak, Version=1.0.0.0" + token, "Weak, Version=3.0.0.0" + token, "Sat.resources", "Sat.resources, Culture=neutral", "Sat.resources, Culture=de" })
                Try(name, () => Text(Assembly.Load(name)));
            Try("System", () => Assembly.Load("System, Version=4.0.0.0" + other).FullName);
            Try("mscorlib", () => Assembly.Load("mscorlib, Version=2.0.0.0" + token).FullName);
        }
        else
        {
            // With what is loaded already, by the order of what is asked.
            foreach (string file in what.Split(' ').Skip(1))
            {
                Assembly assembly = Load("LoadFile", file + ".dll");
                if (!file.EndsWith("Lib")) for (int i = 0; i < 2; i++) Try(file, () => Text(assembly));
            }
            Try("Lib", () => Text(Assembly.Load("Lib")));
            foreach (int version in new[] { 1, 2, 2 }) Try("Lib " + version, () => Text(Assembly.Load("Lib, Version=" + version + ".0.0.0" + token)));
            Try("another culture", () => Text(Assembly.Load("Lib, Version=2.0.0.0, Culture=fr, PublicKeyToken=b77a5c561934e089")));
            Try("and again", () => Text(Assembly.Load("Lib, Version=2.0.0.0, Culture=fr, PublicKeyToken=b77a5c561934e089")));
            Try("its type", () => Type.GetType("T, Lib, Version=2.0.0.0" + token).Assembly.GetName().Version.ToString());
        }
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "requests-" + Guid.NewGuid()), application = Path.Combine(folder, "application");
        AppDomain.CurrentDomain.SetData("folder", folder);
        try
        {
            Make("u1", "User1", 1, null, "", Make("a1", "Lib", 1, first));
            Make("u2", "User2", 1, null, "", Make("a2", "Lib", 2, first));
            Make("b2", "Lib", 2, Second);
            Make("w1", "Weak", 1, null);
            Make("w2", "Weak", 2, null);
            Make("de", "Sat.resources", 1, null, "de");
            Directory.CreateDirectory(application);
            File.Copy(typeof(Requests).Assembly.Location, Path.Combine(application, Path.GetFileName(typeof(Requests).Assembly.Location)));
            foreach (string what in new[] { "bytes", "LoadFile", "LoadFrom", "references u1/User1 u2/User2", "references u2/User2 u1/User1", "references a1/Lib u2/User2", "references b2/Lib a2/Lib u2/User2 u1/User1" })
            {
                Console.WriteLine(what);
                // (Mono keeps what a file's references have been bound to for all domains.)
                string copy = Path.Combine(folder, what.Replace('/', '-'));
                foreach (string file in Directory.GetFiles(folder, "*.dll", SearchOption.AllDirectories).Where(file => Path.GetDirectoryName(Path.GetDirectoryName(file)) == folder))
                {
                    string to = Path.Combine(copy, Path.GetFileName(Path.GetDirectoryName(file)));
                    Directory.CreateDirectory(to);
                    File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
                }
                AppDomain domain = AppDomain.CreateDomain(what, null, new AppDomainSetup { ApplicationBase = application });
                domain.SetData("folder", copy);
                domain.SetData("what", what);
                domain.DoCallBack(InDomain);
                AppDomain.Unload(domain);
            }
        }
        finally { Directory.Delete(folder, true); }
    }
}
