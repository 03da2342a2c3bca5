// Domains that load copies of their assemblies: where the copies lie, what is beside them, and that the files can be replaced meanwhile.
using System;
using System.IO;
using System.Linq;
using System.Reflection;

public class Plugin : MarshalByRefObject
{
    public string Location() { return typeof(Plugin).Assembly.Location; }
    public string CodeBase() { return typeof(Plugin).Assembly.CodeBase; }
    public string Load(string name) { return Assembly.Load(name).Location; }
    public string LoadFrom(string file) { return Assembly.LoadFrom(file).Location; }
    public bool Flag() { return AppDomain.CurrentDomain.ShadowCopyFiles; }
    public string Class() { return typeof(System.Xml.XmlDocument).Assembly.Location; }
    public int Count(System.Collections.ArrayList list) { return list.Count; }
}

static class ShadowCopy
{
    static string folder, cache, app, file;

    static string Named(string path)
    {
        if (!path.StartsWith(cache)) return path.Replace(folder, "FOLDER");
        var parts = path.Substring(cache.Length + 1).Split('/');
        // name/assembly/shadow/HASH/HASH_HASH_NUMBER/file
        bool hashes = parts.Length == 6 && parts[3].Length == 8 && parts[4].Split('_').All(p => p.Length == 8) && parts[4].Split('_').Length == 3;
        return "CACHE/" + parts[0] + "/" + parts[1] + "/" + parts[2] + "/" + hashes + "/" + parts.Last();
    }
    static string Run(string what, AppDomainSetup setup, Action<AppDomain> change, Action<Plugin> use = null)
    {
        var domain = AppDomain.CreateDomain("plugins", null, setup);
        if (change != null) change(domain);
        string location = null;
        try
        {
            var plugin = (Plugin)domain.CreateInstanceFromAndUnwrap(file, "Plugin");
            location = plugin.Location();
            Console.WriteLine(what + ": " + plugin.Flag() + " " + Named(location) + " " + plugin.CodeBase().Replace(folder, "FOLDER"));
            if (use != null) use(plugin);
        }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
        AppDomain.Unload(domain);
        return location;
    }
    static AppDomainSetup Setup(string copies, string name = "name") { return new AppDomainSetup { ApplicationBase = app, ShadowCopyFiles = copies, CachePath = cache, ApplicationName = name }; }

    static void Main()
    {
        folder = Path.Combine(Path.GetTempPath(), "shadow-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        cache = Path.Combine(folder, "cache"); app = Path.Combine(folder, "app"); file = Path.Combine(app, "plugin.exe");
        Directory.CreateDirectory(app); Directory.CreateDirectory(cache);
        string own = typeof(ShadowCopy).Assembly.Location;
        File.Copy(own, file);
        File.WriteAllText(file + ".config", "<configuration/>");
        File.WriteAllText(file + ".mdb", "no symbols");
        try
        {
            string first = Run("on", Setup("true"), null, plugin =>
            {
                string copy = plugin.Location(), beside = Path.GetDirectoryName(copy);
                Console.WriteLine(string.Join(" ", Directory.GetFiles(beside).Select(f => Path.GetFileName(f)).OrderBy(f => f, StringComparer.Ordinal)));
                Console.WriteLine(File.ReadAllText(Path.Combine(beside, "__AssemblyInfo__.ini")).Replace(folder, "FOLDER"));
                Console.WriteLine(new FileInfo(copy).Length == new FileInfo(own).Length && File.GetLastWriteTimeUtc(copy).Ticks / 10000000 == File.GetLastWriteTimeUtc(file).Ticks / 10000000);
                Console.WriteLine(plugin.LoadFrom(file) == copy && plugin.LoadFrom(copy) == copy);
                // What all domains share is not copied.
                Console.WriteLine(plugin.Class().StartsWith(cache));
                Console.WriteLine(plugin.Count(new System.Collections.ArrayList { 1 }));
                // The file is replaced, and the domain goes on.
                File.Delete(file); File.Copy(own, file); File.SetLastWriteTimeUtc(file, new DateTime(2020, 1, 1));
                Console.WriteLine(Named(plugin.Location()) + " " + plugin.CodeBase().EndsWith("plugin.exe"));
            });
            string second = Run("replaced", Setup("TRUE"), null);
            Console.WriteLine(first != second && File.GetLastWriteTimeUtc(second) == new DateTime(2020, 1, 1));
            Run("off", Setup("false"), null);
            Run("not said", Setup(null), null);
            var elsewhere = Setup("true", "elsewhere"); elsewhere.ShadowCopyDirectories = folder + ":" + cache;
            Run("other directories", elsewhere, null);
            var here = Setup("true", "here"); here.ShadowCopyDirectories = folder + ":" + app;
            Run("its directory", here, null);
#pragma warning disable 618
            Run("by methods", Setup(null, "methods"), d => { d.SetShadowCopyFiles(); d.SetShadowCopyPath(app); d.SetCachePath(cache); });
#pragma warning restore 618
            File.Delete(file);
            Run("no file", Setup("true"), null);
        }
        finally { Directory.Delete(folder, true); }
    }
}
