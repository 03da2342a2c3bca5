// AssemblyLoad is raised each time that LoadFrom or LoadFile opens a file, also if its assembly is loaded; not if another file's assembly is the result.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class LoadedAgain
{
    static string Make(string directory, string value)
    {
        Directory.CreateDirectory(directory);
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("vervet-again"), AssemblyBuilderAccess.Save, directory);
        assembly.DefineDynamicModule("vervet-again", "vervet-again.dll").DefineType(value, TypeAttributes.Public).CreateType();
        assembly.Save("vervet-again.dll");
        return Path.Combine(directory, "vervet-again.dll");
    }

    static void Main()
    {
        string root = Path.Combine(Path.GetTempPath(), "vervet-again-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        string one = Make(Path.Combine(root, "one"), "One"), two = Make(Path.Combine(root, "two"), "Two");
        AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Console.WriteLine("loaded " + e.LoadedAssembly.GetTypes()[0].Name);
        Func<Assembly, string> say = assembly => "  " + assembly.GetTypes()[0].Name;
        Console.WriteLine(say(Assembly.LoadFrom(one)));
        // expect: loaded One
        // expect:   One
        Console.WriteLine(say(Assembly.LoadFrom(one)));
        // expect: loaded One
        // expect:   One
        Console.WriteLine(say(Assembly.LoadFrom(two)));
        // expect:   One
        Console.WriteLine(say(Assembly.LoadFile(one)));
        // expect: loaded One
        // expect:   One
        Console.WriteLine(say(Assembly.LoadFile(two)));
        // expect: loaded Two
        // expect:   Two
        Console.WriteLine(say(Assembly.LoadFile(two)));
        // expect: loaded Two
        // expect:   Two
        Console.WriteLine(say(Assembly.LoadFrom(two)));
        // expect: loaded Two
        // expect:   Two
        Assembly partial = null;
        AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Console.WriteLine(partial == null ? "before the result" : "after it");
#pragma warning disable 618
        partial = Assembly.LoadWithPartialName("System.Configuration.Install");
        // expect: loaded Consts
        // expect: before the result
        Console.WriteLine(partial.GetName().Name); // expect: System.Configuration.Install
        Directory.Delete(root, true);
    }
}
