// Whoever gives a file or bytes gets what the binding redirects put in the place of the name in them.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class RedirectedFiles
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }

    static void Make(string folder, string name, int version, bool isStrong = true)
    {
        Directory.CreateDirectory(folder);
        var full = new AssemblyName(name) { Version = new Version(version, 0, 0, 0) };
        if (isStrong) full.SetPublicKey(typeof(object).Assembly.GetName().GetPublicKey());
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(full, AssemblyBuilderAccess.Save, folder);
        assembly.DefineDynamicModule(name, name + ".dll").DefineType("V" + version, TypeAttributes.Public).CreateType();
        assembly.Save(name + ".dll");
    }

    static void Try(string what, Func<object> action)
    {
        string text;
        try { text = action().ToString(); }
        catch (Exception e)
        {
            var missing = e as FileNotFoundException;
            text = e.GetType().Name + (missing == null ? "" : " " + missing.Message + " " + missing.FileName);
        }
        Console.WriteLine(what + ": " + text.Replace(Folder, "folder"));
    }

    static string About(Assembly assembly)
    {
        return assembly.GetName().Version + " " + assembly.GetTypes()[0] + " at " + assembly.Location;
    }

    static string Old(string name) { return Path.Combine(Folder, "old", name + ".dll"); }

    static byte[] Bytes(string name) { return File.ReadAllBytes(Old(name)); }

    static void InDomain()
    {
        AppDomain.CurrentDomain.AssemblyLoad += (sender, e) =>
        {
            AssemblyName name = e.LoadedAssembly.GetName();
            if (!name.Name.StartsWith("System")) Console.WriteLine("  loaded " + name.Name + " " + name.Version);
        };
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
        {
            Console.WriteLine("  resolve " + e.Name + (e.RequestingAssembly == null ? "" : " for " + e.RequestingAssembly));
            return e.Name.StartsWith("Given") ? Assembly.LoadFrom(Path.Combine(Folder, "new", "Library.dll")) : null;
        };
        switch ((string)AppDomain.CurrentDomain.GetData("what"))
        {
            case "file":
                Try("LoadFrom", () => About(Assembly.LoadFrom(Old("Library"))));
                Try("LoadFile", () => About(Assembly.LoadFile(Old("Library"))));
                Try("Load", () => About(Assembly.Load("Library, Version=1.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089")));
                Try("one assembly", () => Assembly.LoadFrom(Old("Library")) == Assembly.LoadFile(Old("Library")));
                Try("CreateInstanceFrom", () => AppDomain.CurrentDomain.CreateInstanceFrom(Old("Library"), "V2").Unwrap());
                Try("the old type", () => AppDomain.CurrentDomain.CreateInstanceFrom(Old("Library"), "V1").Unwrap());
                break;
            case "LoadFile first":
                Try("LoadFile", () => About(Assembly.LoadFile(Old("Library"))));
                break;
            case "bytes":
                Try("Load", () => About(Assembly.Load(Bytes("Library"))));
                Try("by name", () => About(Assembly.Load("Library")));
                Try("again", () => About(AppDomain.CurrentDomain.Load(Bytes("Library"))));
                Try("its types", () => Assembly.Load(Bytes("Library")).GetType("V2") == Assembly.Load("Library").GetType("V2"));
                break;
            case "missing":
                Try("LoadFrom", () => About(Assembly.LoadFrom(Old("Missing"))));
                Try("LoadFile", () => About(Assembly.LoadFile(Old("Missing"))));
                Try("Load", () => About(Assembly.Load(Bytes("Missing"))));
                Try("given by the event", () => About(Assembly.LoadFrom(Old("Given"))));
                break;
            case "another version":
                Try("LoadFrom", () => About(Assembly.LoadFrom(Old("Unchanged"))));
                break;
            case "others":
                Try("without a key", () => About(Assembly.LoadFrom(Old("Weak"))));
                Try("the new one", () => About(Assembly.LoadFrom(Path.Combine(Folder, "new", "Library.dll"))));
                Try("to look at", () => Assembly.ReflectionOnlyLoadFrom(Old("Library")).GetName().Version);
                Try("name", () => AssemblyName.GetAssemblyName(Old("Library")).Version);
                break;
        }
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "redirected-" + Guid.NewGuid()), application = Path.Combine(folder, "application");
        try
        {
            string redirects = "";
            foreach (string name in new[] { "Library", "Missing", "Given", "Unchanged", "Weak" })
            {
                Make(Path.Combine(folder, "old"), name, 1, name != "Weak");
                redirects += "<dependentAssembly><assemblyIdentity name=\"" + name + "\" publicKeyToken=\"b77a5c561934e089\" culture=\"neutral\"/>"
                    + "<bindingRedirect oldVersion=\"0.0.0.0-1.0.0.0\" newVersion=\"2.0.0.0\"/></dependentAssembly>";
            }
            Make(application, "Library", 2);
            Make(Path.Combine(folder, "new"), "Library", 2);
            Make(application, "Unchanged", 1);
            File.Copy(typeof(RedirectedFiles).Assembly.Location, Path.Combine(application, Path.GetFileName(typeof(RedirectedFiles).Assembly.Location)));
            string configuration = Path.Combine(folder, "application.config");
            File.WriteAllText(configuration, "<configuration><runtime><assemblyBinding xmlns=\"urn:schemas-microsoft-com:asm.v1\">" + redirects + "</assemblyBinding></runtime></configuration>");
            foreach (string what in new[] { "file", "LoadFile first", "bytes", "missing", "another version", "others" })
            {
                Console.WriteLine(what);
                AppDomain domain = AppDomain.CreateDomain(what, null, new AppDomainSetup { ApplicationBase = application, ConfigurationFile = configuration });
                domain.SetData("folder", folder);
                domain.SetData("what", what);
                domain.DoCallBack(InDomain);
                AppDomain.Unload(domain);
            }
        }
        finally { Directory.Delete(folder, true); }
    }
}
