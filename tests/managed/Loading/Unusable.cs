// A file of those that are known not to run on this class library counts as none where it would be loaded by its name or path; bytes do not.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Unusable
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }

    static void Try(string what, Func<Assembly> action)
    {
        string text;
        try { Assembly a = action(); text = a.GetName().Version + (a.Location.StartsWith(Folder) ? " of the application" : ""); }
        catch (Exception e) { text = e.GetType().Name; }
        Console.WriteLine(what + ": " + text);
    }

    static void InDomain()
    {
        string file = Path.Combine(Folder, "System.Net.Http.dll");
        Try("LoadFile", () => Assembly.LoadFile(file));
        Try("Load", () => Assembly.Load("System.Net.Http, Version=4.1.1.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a"));
        Try("bytes", () => Assembly.Load(File.ReadAllBytes(file)));
        Try("to look at", () => Assembly.ReflectionOnlyLoadFrom(file));
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "unusable-" + Guid.NewGuid());
        try
        {
            Directory.CreateDirectory(folder);
            var name = new AssemblyName("System.Net.Http") { Version = new Version(4, 1, 1, 0) };
            AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.Save, folder);
            ModuleBuilder module = assembly.DefineDynamicModule("System.Net.Http", "System.Net.Http.dll");
            module.DefineType("Made", TypeAttributes.Public).CreateType();
            assembly.Save("System.Net.Http.dll");
            string file = Path.Combine(folder, "System.Net.Http.dll");
            byte[] bytes = File.ReadAllBytes(file), own = Assembly.ReflectionOnlyLoadFrom(file).ManifestModule.ModuleVersionId.ToByteArray();
            byte[] listed = new Guid("EA2EC6DC-51DD-479C-BFC2-E713FB9E7E47").ToByteArray();
            for (int i = 0; i + 16 <= bytes.Length; i++)
            {
                int n = 0;
                while (n < 16 && bytes[i + n] == own[n]) n++;
                if (n == 16) listed.CopyTo(bytes, i);
            }
            File.WriteAllBytes(file, bytes);
            File.Copy(typeof(Unusable).Assembly.Location, Path.Combine(folder, Path.GetFileName(typeof(Unusable).Assembly.Location)));
            AppDomain domain = AppDomain.CreateDomain("one", null, new AppDomainSetup { ApplicationBase = folder });
            domain.SetData("folder", folder);
            domain.DoCallBack(InDomain);
        }
        finally { Directory.Delete(folder, true); }
    }
}
