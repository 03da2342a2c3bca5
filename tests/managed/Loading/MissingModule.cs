// A file of a multi-module assembly that is not there: its types do not exist, and whoever asks for the module is told which.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class MissingModule
{
    static void Show(string what, Func<object> get)
    {
        try
        {
            Console.WriteLine("{0}: {1}", what, get() ?? "null");
        }
        catch (Exception e)
        {
            e = e is TargetInvocationException ? e.InnerException : e;
            var file = e as FileNotFoundException;
            var message = e.Message.Length > 40 ? e.Message.Substring(0, 40) : e.Message;
            Console.WriteLine("{0}: {1} '{2}'{3}", what, e.GetType().Name, message, file == null ? "" : " " + file.FileName);
        }
    }

    static void Main()
    {
        var folder = Path.Combine(Path.GetTempPath(), "missing-module-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        var builder = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("parts"), AssemblyBuilderAccess.RunAndSave, folder);
        var first = builder.DefineDynamicModule("parts.dll", "parts.dll");
        var second = builder.DefineDynamicModule("second.netmodule", "second.netmodule");
        var inside = second.DefineType("Inside", TypeAttributes.Public);
        inside.CreateType();
        var user = first.DefineType("User", TypeAttributes.Public);
        var call = user.DefineMethod("Call", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes);
        call.GetILGenerator().Emit(OpCodes.Ldtoken, inside);
        call.GetILGenerator().Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
        call.GetILGenerator().Emit(OpCodes.Ret);
        user.CreateType();
        builder.Save("parts.dll");
        File.Delete(Path.Combine(folder, "second.netmodule"));

        var loaded = Assembly.LoadFrom(Path.Combine(folder, "parts.dll"));
        Show("types", () => loaded.GetTypes().Length); // expect: types: 1
        Show("call", () => loaded.GetType("User").GetMethod("Call").Invoke(null, null)); // expect: call: TypeLoadException 'Could not resolve type with token 010000'
        Show("again", () => loaded.GetType("User").GetMethod("Call").Invoke(null, null)); // expect: again: TypeLoadException 'Could not resolve type with token 010000'
        Show("type", () => loaded.GetType("Inside")); // expect: type: null
        Show("type or throw", () => loaded.GetType("Inside", true)); // expect: type or throw: TypeLoadException 'Could not load type 'Inside' from assemb'
        Show("no such type", () => loaded.GetType("Nowhere", true)); // expect: no such type: TypeLoadException 'Could not load type 'Nowhere' from assem'
        Show("module", () => loaded.GetModule("second.netmodule")); // expect: module: FileNotFoundException '' second.netmodule
        Show("modules", () => loaded.GetModules()); // expect: modules: FileNotFoundException '' second.netmodule
        Directory.Delete(folder, true);
    }
}
