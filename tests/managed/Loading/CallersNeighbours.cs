// Assembly.Load looks beside its caller only if LoadFrom has loaded that.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class CallersNeighbours
{
    static string Folder { get { return (string)AppDomain.CurrentDomain.GetData("folder"); } }

    /// An assembly with a type whose method loads another by its name.
    static void Make(string folder, string name)
    {
        Directory.CreateDirectory(folder);
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Save, folder);
        TypeBuilder type = assembly.DefineDynamicModule(name, name + ".dll").DefineType(name + "Type", TypeAttributes.Public);
        ILGenerator il = type.DefineMethod("Load", MethodAttributes.Public | MethodAttributes.Static, typeof(Assembly), new[] { typeof(string) }).GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(Assembly).GetMethod("Load", new[] { typeof(string) }));
        il.Emit(OpCodes.Ret);
        type.CreateType();
        assembly.Save(name + ".dll");
    }

    static void Call(Assembly caller, string what, string name)
    {
        string text;
        try { text = ((Assembly)caller.GetType("CallerType").GetMethod("Load").Invoke(null, new object[] { name })).GetName().Name; }
        catch (TargetInvocationException e) { text = e.InnerException.GetType().Name; }
        Console.WriteLine(what + " " + name + ": " + text);
    }

    static void InDomain()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) => { Console.WriteLine("  resolve " + e.Name); return null; };
        string what = (string)AppDomain.CurrentDomain.GetData("what"), file = Path.Combine(Folder, "Caller", "Caller.dll");
        Assembly caller = what == "name" ? Assembly.Load("Caller") : what == "LoadFile" ? Assembly.LoadFile(file)
            : what == "bytes" ? Assembly.Load(File.ReadAllBytes(file)) : Assembly.LoadFrom(file);
        Call(caller, what, "Near");
        Call(caller, what, "Near.dll");
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "callers-" + Guid.NewGuid());
        try
        {
            Make(Path.Combine(folder, "Caller"), "Caller");
            Make(Path.Combine(folder, "Caller"), "Near");
            File.Copy(typeof(CallersNeighbours).Assembly.Location, Path.Combine(folder, Path.GetFileName(typeof(CallersNeighbours).Assembly.Location)));
            foreach (string what in new[] { "name", "LoadFile", "LoadFrom", "bytes" })
            {
                AppDomain domain = AppDomain.CreateDomain(what, null, new AppDomainSetup { ApplicationBase = folder });
                domain.SetData("folder", folder);
                domain.SetData("what", what);
                domain.DoCallBack(InDomain);
                AppDomain.Unload(domain);
            }
        }
        finally { Directory.Delete(folder, true); }
    }
}
