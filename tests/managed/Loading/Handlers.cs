// An exception in a handler of AssemblyLoad reaches nobody. One in a handler of AssemblyResolve reaches who has called Assembly.Load; for a type's name, a partial name and a
// reference the handler has given nothing. A handler is not told who asks for a type's name.
// mcs: -r:System.Xml.dll
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

static class Handlers
{
    static void Try(string what, Func<object> action)
    {
        string text;
        try { text = (action() ?? "null").ToString(); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine(what + ": " + text);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Xml() { return typeof(System.Xml.XmlDocument); }

    static void Make(string folder, string name)
    {
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        assembly.DefineDynamicModule(name, name + ".dll").DefineType("T", TypeAttributes.Public).CreateType();
        assembly.Save(name + ".dll");
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "handlers-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        try
        {
            Make(folder, "One");
            Make(folder, "Two");
            AppDomain.CurrentDomain.AssemblyLoad += (sender, e) =>
            {
                string name = e.LoadedAssembly.GetName().Name;
                if (!name.StartsWith("System") || name == "System.Xml") Console.WriteLine("  loaded " + name);
                throw new InvalidOperationException("not seen");
            };
            AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Console.WriteLine("  not reached");
            Try("reference", Xml);
            Try("LoadFrom", () => Assembly.LoadFrom(Path.Combine(folder, "One.dll")).GetName().Name);
            Try("LoadFile", () => Assembly.LoadFile(Path.Combine(folder, "Two.dll")).GetName().Name);
            Try("bytes", () => Assembly.Load(File.ReadAllBytes(Path.Combine(folder, "Two.dll"))).GetName().Name);
            Try("dynamic", () => AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run).GetName().Name);

            AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
            {
                Console.WriteLine("  resolve " + e.Name + " for " + (e.RequestingAssembly == null ? "nobody" : e.RequestingAssembly.GetName().Name));
                if (e.Name.StartsWith("Thrown")) throw new InvalidOperationException("thrown");
                return null;
            };
            foreach (string name in new[] { "Thrown", "Missing" })
            {
                Try("GetType " + name, () => Type.GetType("T, " + name));
                Try("GetType and throw " + name, () => Type.GetType("T, " + name, true));
                Try("partial name " + name, () => Assembly.LoadWithPartialName(name));
                Try("Load " + name, () => Assembly.Load(name));
            }
        }
        finally { Directory.Delete(folder, true); }
    }
}
