// Custom modifiers of emitted parameters are read in the order of the signature, those of emitted fields not at all; once saved and loaded, both as they were
// given. In the signature the optional ones come first.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

public class A { }
public class B { }
public class C { }
public class D { }

static class ModifierOrder
{
    static void Show(Type type)
    {
        var p = type.GetMethod("M").GetParameters()[0];
        var f = type.GetField("F");
        Console.WriteLine(Names(p.GetRequiredCustomModifiers()) + "; " + Names(p.GetOptionalCustomModifiers()) + "; " + Names(f.GetRequiredCustomModifiers()) + "; " + Names(f.GetOptionalCustomModifiers()));
    }
    static string Names(Type[] types) { return string.Join(" ", types.Select(t => t.Name)); }

    static void Main(string[] args)
    {
        if (args.Length > 0) { Show(Assembly.LoadFrom(args[0]).GetType("T")); return; }
        string folder = Path.Combine(Path.GetTempPath(), "modifiers" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.RunAndSave, folder);
        var type = assembly.DefineDynamicModule("Emitted", "Emitted.dll").DefineType("T", TypeAttributes.Public);
        Type[] required = { typeof(A), typeof(B), typeof(A) }, optional = { typeof(C), typeof(D) };
        type.DefineMethod("M", MethodAttributes.Public, CallingConventions.HasThis, typeof(void), null, null, new[] { typeof(int) }, new[] { required }, new[] { optional })
            .GetILGenerator().Emit(OpCodes.Ret);
        type.DefineField("F", typeof(int), required, optional, FieldAttributes.Public);
        Show(type.CreateType());
        assembly.Save("Emitted.dll");
        byte[] image = File.ReadAllBytes(Path.Combine(folder, "Emitted.dll"));
        int at = Enumerable.Range(0, image.Length - 8).First(i => new[] { 0, 2, 4, 6, 8 }.All(k => image[i + k] == 0x1f || image[i + k] == 0x20));
        Console.WriteLine(string.Join(" ", new[] { 0, 2, 4, 6, 8 }.Select(k => image[at + k] == 0x1f ? "required" : "optional")));
        var domain = AppDomain.CreateDomain("other");
        domain.ExecuteAssembly(typeof(ModifierOrder).Assembly.Location, new[] { Path.Combine(folder, "Emitted.dll") });
        Directory.Delete(folder, true);
    }
}
