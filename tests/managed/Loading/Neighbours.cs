// When what an assembly refers to is looked for beside it: at once if LoadFrom has loaded it, after AssemblyResolve if a name led to it, never if LoadFile has.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Neighbours
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }
    static string What { get { return (string)AppDomain.CurrentDomain.GetData("what"); } }

    /// An assembly with a type of its name, whose method calls another's or gives a text.
    static Type Make(string folder, string name, string text, Type called)
    {
        Directory.CreateDirectory(folder);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.RunAndSave, folder);
        TypeBuilder type = assembly.DefineDynamicModule(name, name + ".dll").DefineType(name + "Type", TypeAttributes.Public);
        ILGenerator il = type.DefineMethod("Text", MethodAttributes.Public | MethodAttributes.Static, typeof(string), Type.EmptyTypes).GetILGenerator();
        if (called != null) il.Emit(OpCodes.Call, called.GetMethod("Text")); else il.Emit(OpCodes.Ldstr, text);
        il.Emit(OpCodes.Ret);
        Type made = type.CreateType();
        assembly.Save(name + ".dll");
        return made;
    }

    static string Call(Assembly assembly)
    {
        try { return (string)assembly.GetType(assembly.GetName().Name + "Type").GetMethod("Text").Invoke(null, null); }
        catch (TargetInvocationException e) { return e.InnerException.GetType().Name; }
    }

    static void InDomain()
    {
        string[] words = What.Split(' ');
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
        {
            Console.WriteLine("  resolve " + e.Name.Split(',')[0] + (e.RequestingAssembly == null ? "" : " for " + e.RequestingAssembly.GetName().Name));
            if (e.Name.StartsWith("Top")) return Assembly.LoadFile(Path.Combine(Folder, "Top", "Top.dll"));
            return words[1] == "given" && e.Name.StartsWith("Used") ? Assembly.LoadFrom(Path.Combine(Folder, "other", "Used.dll")) : null;
        };
        string file = Path.Combine(Folder, "Top", "Top.dll");
        Assembly top = words[0] == "name" || words[0] == "event" ? Assembly.Load("Top")
            : words[0] == "LoadFrom" ? Assembly.LoadFrom(file)
            : words[0] == "LoadFile" ? Assembly.LoadFile(file)
            : Assembly.Load(File.ReadAllBytes(file));
        Console.WriteLine(What + ": " + Call(top));
        Console.WriteLine(What + ": " + Call(top));
    }

    static void Main()
    {
        string root = Path.Combine(Path.GetTempPath(), "neighbours-" + Guid.NewGuid());
        try
        {
            int n = 0;
            foreach (string how in new[] { "name", "event", "LoadFrom", "LoadFile", "bytes" })
                foreach (string given in new[] { "asked", "given" })
                {
                    string folder = Path.Combine(root, (n++).ToString()), beside = Path.Combine(folder, "Top");
                    Type used = Make(beside, "Used", "beside", null);
                    Make(beside, "Top", null, Make(beside, "Middle", null, used));
                    Make(Path.Combine(folder, "other"), "Used", "other", null);
                    // A name leads to Top by the folder of that name below the base directory.
                    string application = how == "name" ? folder : Path.Combine(folder, "application");
                    Directory.CreateDirectory(application);
                    File.Copy(typeof(Neighbours).Assembly.Location, Path.Combine(application, Path.GetFileName(typeof(Neighbours).Assembly.Location)));
                    AppDomain domain = AppDomain.CreateDomain(how, null, new AppDomainSetup { ApplicationBase = application });
                    domain.SetData("folder", folder);
                    domain.SetData("what", how + " " + given);
                    domain.DoCallBack(InDomain);
                    AppDomain.Unload(domain);
                }
        }
        finally { Directory.Delete(root, true); }
    }
}
