// Which ways of loading an assembly ask AssemblyResolve.
using System;
using System.Reflection;

static class Program
{
    static void Try(string what, Func<Assembly> load)
    {
        asked = false;
        try { load(); } catch (Exception) { }
        Console.WriteLine($"{what}: {asked}");
    }
    static bool asked;

    static void Main()
    {
        ResolveEventHandler handler = (sender, e) => { asked = true; return null; };
        AppDomain.CurrentDomain.AssemblyResolve += handler;
        AppDomain.CurrentDomain.ReflectionOnlyAssemblyResolve += handler;
        Try("Load", () => Assembly.Load("None"));  // expect: Load: True
        Try("LoadFrom", () => Assembly.LoadFrom("None"));  // expect: LoadFrom: False
        Try("Partial", () => Assembly.LoadWithPartialName("None"));  // expect: Partial: True
        Try("ReflectionOnly", () => Assembly.ReflectionOnlyLoad("None"));  // expect: ReflectionOnly: False
        // Two versions of a strong name are two assemblies.
        foreach (var version in new[] { "4.0.0.0", "14.0.0.0" })
            Console.WriteLine(Assembly.ReflectionOnlyLoad(
                $"Microsoft.Build.Engine, Version={version}, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a").GetName().Version);
        // expect: 4.0.0.0
        // expect: 14.0.0.0
    }
}
