// Assemblies that are loaded to be looked at: copies of their own, with references that only what was loaded so answers; calls are refused.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

[AttributeUsage(AttributeTargets.All)]
public class MarkAttribute : Attribute
{
    public int Number;
    public MarkAttribute(string text) { }
}
[Mark("it", Number = 3)]
public class Shown
{
    public const int Five = 5;
    public static int Static = 9;
    public int Field = 7;
    public Shown() { Console.WriteLine("must not run"); }
    public static int Run() { return 1; }
    public T Same<T>(T it) { return it; }
}
public enum Colour { Red, Green = 4 }

static class ReflectionOnly
{
    static string folder;
    static bool gives;

    static void Show(string what, Func<object> get)
    {
        try { Console.WriteLine(what + ": " + (get() ?? "null")); }
        catch (ReflectionTypeLoadException e)
        {
            Console.WriteLine(what + ": " + e.Types.Count(t => t == null) + " of " + e.Types.Length + " not loaded; " + e.LoaderExceptions[0].GetType().Name);
        }
        catch (Exception e)
        {
            var file = e as FileNotFoundException;
            Console.WriteLine(what + ": " + e.GetType().Name + ": " + e.Message.Split('\n')[0] + (file == null ? "" : " [" + file.FileName + "]"));
        }
    }

    // A library with the class Base, and another one, whose class Derived has that as its parent, and whose class Alone refers to nothing.
    static void MakeFiles(string below, string above)
    {
        var save = AssemblyBuilderAccess.Save;
        var lower = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(below), save, folder);
        var type = lower.DefineDynamicModule(below, below + ".dll").DefineType("Base", TypeAttributes.Public);
        var parent = type.CreateType();
        lower.Save(below + ".dll");
        var upper = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(above), save, folder);
        var module = upper.DefineDynamicModule(above, above + ".dll");
        module.DefineType("Derived", TypeAttributes.Public, parent).CreateType();
        module.DefineType("Alone", TypeAttributes.Public).CreateType();
        upper.Save(above + ".dll");
    }

    static Assembly Resolve(object sender, ResolveEventArgs e)
    {
        Console.WriteLine("  asked for " + e.Name + " by " + e.RequestingAssembly.GetName().Name);
        return gives ? Assembly.ReflectionOnlyLoadFrom(Path.Combine(folder, "base.dll")) : null;
    }

    static void Names()
    {
        Show("a partial name", () => Assembly.ReflectionOnlyLoad("System.Xml"));
        Show("no such name", () => Assembly.ReflectionOnlyLoad("nonesuch"));
        Show("the core library", () => Assembly.ReflectionOnlyLoad("mscorlib") == typeof(object).Assembly);
        Show("a full name", () => Assembly.ReflectionOnlyLoad(typeof(Uri).Assembly.FullName) == typeof(Uri).Assembly);
        Show("again", () => Assembly.ReflectionOnlyLoad(typeof(Uri).Assembly.FullName) == Assembly.ReflectionOnlyLoad(typeof(Uri).Assembly.FullName));
        Show("no such file", () => Assembly.ReflectionOnlyLoadFrom("/nonesuch/nonesuch.dll"));
        Show("null", () => Assembly.ReflectionOnlyLoadFrom(null));
        Show("no assembly", () => Type.ReflectionOnlyGetType("System.Int32", true, false));
        Show("no such type", () => Type.ReflectionOnlyGetType("A.B, mscorlib", true, false));
        Show("no such type, no error", () => Type.ReflectionOnlyGetType("A.B, nonesuch", false, false));
        Show("a type", () => Type.ReflectionOnlyGetType("System.Uri, " + typeof(Uri).Assembly.FullName, true, false).Assembly.ReflectionOnly);
        Show("a type of the core library", () => Type.ReflectionOnlyGetType("System.Int32, mscorlib", true, false) == typeof(int));
    }

    static void Itself()
    {
        var own = typeof(Shown).Assembly;
        var copy = Assembly.ReflectionOnlyLoadFrom(own.Location);
        Console.WriteLine("{0} {1} {2} {3}", copy == own, copy.FullName == own.FullName, own.ReflectionOnly, copy.ReflectionOnly);
        var type = copy.GetType("Shown");
        Console.WriteLine("{0} {1} {2}", type == typeof(Shown), type.BaseType == typeof(object), type.IsAssignableFrom(typeof(Shown)));
        Console.WriteLine(string.Join(" ", type.GetMembers().Select(m => m.Name)));
        Console.WriteLine(type.GetMethod("Same").MakeGenericMethod(typeof(int)));
        Console.WriteLine(type.GetField("Five").GetRawConstantValue());
        Console.WriteLine(string.Join(" ", Enum.GetNames(copy.GetType("Colour"))) + " " + copy.GetType("Colour").GetField("Green").GetRawConstantValue());
        Console.WriteLine(CustomAttributeData.GetCustomAttributes(type)[0]);
        Console.WriteLine(type.GetMethod("Run").GetMethodBody().GetILAsByteArray().Length > 0);
        Show("invoke", () => type.GetMethod("Run").Invoke(null, null));
        Show("create", () => Activator.CreateInstance(type));
        Show("construct", () => type.GetConstructor(Type.EmptyTypes).Invoke(null));
        Show("from the assembly", () => copy.CreateInstance("Shown"));
        Show("get", () => type.GetField("Static").GetValue(null));
        Show("get constant", () => type.GetField("Five").GetValue(null));
        Show("set", () => { type.GetField("Static").SetValue(null, 1); return null; });
        Show("entry point", () => copy.EntryPoint.Invoke(null, new object[0]));
        Show("still runs", () => typeof(Shown).GetMethod("Run").Invoke(null, null));
        Show("from bytes", () => Assembly.ReflectionOnlyLoad(File.ReadAllBytes(own.Location)) == copy);
        Show("by its name", () => Assembly.ReflectionOnlyLoad(own.FullName) == copy);
        Show("a type by name", () => Type.ReflectionOnlyGetType("Shown, " + own.FullName, true, false) == type);
        Show("to run", () => Type.GetType("Shown, " + own.FullName) == typeof(Shown));
    }

    static void References()
    {
        var refused = Assembly.ReflectionOnlyLoadFrom(Path.Combine(folder, "orphan.dll"));
        Show("types", () => refused.GetTypes().Length);
        Show("the one that refers to nothing", () => refused.GetType("Alone", true).BaseType);
        Console.WriteLine(string.Join(" ", refused.GetReferencedAssemblies().Select(n => n.Name).OrderBy(n => n)));
    }
    static void Answered()
    {
        gives = true;
        var derived = Assembly.ReflectionOnlyLoadFrom(Path.Combine(folder, "derived.dll"));
        Show("types", () => string.Join(" ", derived.GetTypes().Select(t => t.FullName).OrderBy(t => t)));
        Show("base", () => derived.GetType("Derived").BaseType + " " + derived.GetType("Derived").BaseType.Assembly.ReflectionOnly);
        Show("listed", () => string.Join(" ", AppDomain.CurrentDomain.ReflectionOnlyGetAssemblies().Select(a => a.GetName().Name).Where(n => n != typeof(Shown).Assembly.GetName().Name)));
        Show("listed to run", () => AppDomain.CurrentDomain.GetAssemblies().Count(a => a.GetName().Name == "base" && !(a is AssemblyBuilder)));
        AppDomain.CurrentDomain.AssemblyResolve += (s, e) => Assembly.ReflectionOnlyLoadFrom(Path.Combine(folder, "base.dll"));
        Show("no answer for what is to run", () => Assembly.Load("base"));
    }

    static void Main()
    {
        folder = Path.Combine(Path.GetTempPath(), "reflection-only-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(folder);
        MakeFiles("base", "derived");
        MakeFiles("unknown", "orphan");
        AppDomain.CurrentDomain.ReflectionOnlyAssemblyResolve += Resolve;
        Names();
        Itself();
        References();
        Answered();
        Directory.Delete(folder, true);
    }
}
