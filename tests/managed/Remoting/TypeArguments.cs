// Generic methods called in another domain: their type arguments are that domain's classes. And calls into a domain that has loaded another version of a file.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

public interface IService { string Where(); }
[Serializable] public struct Pair { public int A; public string B; }
[Serializable] public class Item { public int N; }

public class Host : MarshalByRefObject
{
    sealed class Service : MarshalByRefObject, IService { public string Where() { return "service in " + AppDomain.CurrentDomain.FriendlyName; } }
    public T Get<T>() where T : class { return typeof(T) == typeof(IService) ? (T)(object)new Service() : null; }
    public string Name<T>(T value) { return typeof(T).Name + (value is T) + (typeof(T) == value.GetType()); }
    public T Echo<T>(T value) { return value; }
    public int Count<T>(T[] all, List<T> more) { return all.Length + more.Count; }
    public bool Same<T, U>() { return typeof(T) == typeof(Item) && typeof(U) == typeof(Dictionary<Pair, Item[]>); }
}

// A library whose methods stand in another order in each version. Its class Caller calls them one by one.
static class Versions
{
    static void Make(string folder, string version, params string[] names)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Changing"), AssemblyBuilderAccess.Save, folder);
        var module = assembly.DefineDynamicModule("Changing", "Changing.dll");
        var type = module.DefineType("Thing", TypeAttributes.Public, typeof(MarshalByRefObject));
        var caller = module.DefineType("Caller", TypeAttributes.Public | TypeAttributes.Abstract | TypeAttributes.Sealed);
        foreach (var name in names)
        {
            var parameters = name == "Number" ? new[] { typeof(long).MakeByRefType() } : name == "Text" ? new[] { typeof(string) } : Type.EmptyTypes;
            var method = type.DefineMethod(name, MethodAttributes.Public, typeof(string), parameters);
            var il = method.GetILGenerator();
            il.Emit(OpCodes.Ldstr, name + " of " + version);
            if (name == "Text") { il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", new[] { typeof(string), typeof(string) })); }
            if (name == "Number") { il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Ldc_I4_5); il.Emit(OpCodes.Conv_I8); il.Emit(OpCodes.Stind_I8); }
            il.Emit(OpCodes.Ret);
            var call = caller.DefineMethod(name, MethodAttributes.Public | MethodAttributes.Static, typeof(string), new[] { typeof(object) }).GetILGenerator();
            var local = call.DeclareLocal(typeof(long));
            call.Emit(OpCodes.Ldarg_0); call.Emit(OpCodes.Castclass, type);
            if (name == "Text") call.Emit(OpCodes.Ldstr, "!");
            if (name == "Number") call.Emit(OpCodes.Ldloca, local);
            call.Emit(OpCodes.Callvirt, method); call.Emit(OpCodes.Ret);
        }
        type.CreateType(); caller.CreateType(); assembly.Save("Changing.dll");
    }
    public static void Run(string folder)
    {
        string file = Path.Combine(folder, "Changing.dll");
        Make(folder, "one", "Number", "Plain", "Text");
        var caller = Assembly.LoadFrom(file).GetType("Caller");
        File.Delete(file); Make(folder, "two", "Text", "Number", "Plain");
        var domain = AppDomain.CreateDomain("newer");
        object thing = domain.CreateInstanceFromAndUnwrap(file, "Thing");
        foreach (var name in new[] { "Plain", "Text", "Number" })
        {
            var said = (string)caller.GetMethod(name).Invoke(null, new[] { thing });
            Console.WriteLine(name + ": " + said.StartsWith(name) + said.EndsWith("!"));
        }
        AppDomain.Unload(domain);
    }
}

class Program
{
    static void Main()
    {
        var domain = AppDomain.CreateDomain("kid");
        var host = (Host)domain.CreateInstanceAndUnwrap(typeof(Host).Assembly.FullName, typeof(Host).FullName);
        Console.WriteLine(host.Get<IService>().Where());
        Console.WriteLine(host.Get<string>() == null);
        Console.WriteLine("{0} {1} {2}", host.Name(new Item()), host.Name(new Pair()), host.Name("text").Substring(0, 14));
        Console.WriteLine("{0} {1} {2}", host.Echo(new Item { N = 5 }).N, host.Echo(new Pair { B = "b" }).B, host.Echo(new[] { new Item { N = 7 } })[0].N);
        Console.WriteLine(host.Count(new Item[2], new List<Item> { new Item() }));
        Console.WriteLine("{0} {1}", host.Same<Item, Dictionary<Pair, Item[]>>(), host.Same<Item, Dictionary<Pair, Item>>());
        AppDomain.Unload(domain);
        string folder = Path.Combine(Path.GetTempPath(), "type-arguments-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        try { Versions.Run(folder); } finally { Directory.Delete(folder, true); }
    }
}
