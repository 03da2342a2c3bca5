// An assembly of two files with a strong name and debug information, saved and read back. Mono cannot save what refers to a type of another module.
// mcs: -debug
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

class SaveModules
{
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;

    static void Main()
    {
        var dir = Path.Combine(Path.GetTempPath(), "vervet-modules-" + System.Diagnostics.Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(dir);
        try { Build(dir); Read(dir); Again(dir); Bad(dir); }
        finally { Directory.Delete(dir, true); }
    }
    static void Build(string dir)
    {
        var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("multi"), AssemblyBuilderAccess.RunAndSave, dir);
        var m1 = ab.DefineDynamicModule("multi.dll", "multi.dll", true);
        var m2 = ab.DefineDynamicModule("two.netmodule", "two.netmodule");
        var two = m2.DefineType("Two", TypeAttributes.Public);
        var inner = two.DefineNestedType("In", TypeAttributes.NestedPublic);
        var g = two.DefineMethod("G", Static, typeof(string), Type.EmptyTypes);
        var il = g.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "from two");
        il.Emit(OpCodes.Ret);
        m2.DefineManifestResource("bytes", new MemoryStream(new byte[] { 1, 2, 3 }), ResourceAttributes.Public);
        var one = m1.DefineType("One", TypeAttributes.Public, two);
        il = one.DefineMethod("F", Static, typeof(string), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Call, g);
        il.Emit(OpCodes.Ret);
        il = one.DefineMethod("Throw", Static, typeof(void), Type.EmptyTypes).GetILGenerator();
        il.MarkSequencePoint(m1.DefineDocument("one.src", Guid.Empty, Guid.Empty, Guid.Empty), 7, 1, 7, 5);
        il.Emit(OpCodes.Ldnull);
        il.Emit(OpCodes.Throw);
        // A constructor that is defined last comes first in the file.
        var made = one.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, Type.EmptyTypes);
        il = made.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, two.DefineDefaultConstructor(MethodAttributes.Public));
        il.Emit(OpCodes.Ret);
        il = m1.DefineGlobalMethod("Global", Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_8);
        il.Emit(OpCodes.Ret);
        m1.CreateGlobalFunctions();
        Console.WriteLine(m1.GetMethod("Global").Invoke(null, null)); // expect: 8
        two.CreateType();
        inner.CreateType();
        one.CreateType();
        ab.Save("multi.dll");
        Console.WriteLine(string.Join(" ", Sorted(dir))); // expect: multi.dll multi.dll.mdb two.netmodule
    }
    static string[] Sorted(string dir)
    {
        var names = Array.ConvertAll(Directory.GetFiles(dir), Path.GetFileName);
        Array.Sort(names, StringComparer.Ordinal);
        return names;
    }
    static void Read(string dir)
    {
        var asm = Assembly.LoadFrom(Path.Combine(dir, "multi.dll"));
        Console.WriteLine(asm.GetType("One").GetMethod("F").Invoke(null, null)); // expect: from two
        foreach (var t in asm.GetTypes())
            Console.WriteLine(t + " " + t.Module);
        // expect: One multi.dll
        // expect: Two two.netmodule
        // expect: Two+In two.netmodule
        Console.WriteLine(asm.ManifestModule.GetMethod("Global").Invoke(null, null)); // expect: 8
        using (var stream = asm.GetManifestResourceStream("bytes"))
            Console.WriteLine(stream.Length + " " + stream.ReadByte()); // expect: 3 1
        Console.WriteLine(Activator.CreateInstance(asm.GetType("One")).GetType().BaseType); // expect: Two
        try { asm.GetType("One").GetMethod("Throw").Invoke(null, null); }
        catch (TargetInvocationException e)
        {
            var frame = new System.Diagnostics.StackTrace(e.InnerException, true).GetFrame(0);
            Console.WriteLine(frame.GetMethod().Name); // expect: Throw
        }
    }
    // Saved twice, and between that called: the image in memory stays what it is.
    static void Again(string dir)
    {
        var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("again"), AssemblyBuilderAccess.RunAndSave, dir);
        var m = ab.DefineDynamicModule("again.dll", "again.dll");
        var a = m.DefineType("A", TypeAttributes.Public);
        var f = a.DefineMethod("F", Static, typeof(int), Type.EmptyTypes);
        var il = f.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Ret);
        a.DefineDefaultConstructor(MethodAttributes.Public);
        var t = a.CreateType();
        ab.Save("again.dll");
        Console.WriteLine(t.GetMethod("F").Invoke(null, null)); // expect: 3
        // A type that is defined afterwards names the method by what it is in memory.
        var b = m.DefineType("B", TypeAttributes.Public);
        il = b.DefineMethod("G", Static, typeof(int), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Call, f);
        il.Emit(OpCodes.Ret);
        Console.WriteLine(b.CreateType().GetMethod("G").Invoke(null, null)); // expect: 3
        ab.Save("again.dll");
        var read = Assembly.Load(File.ReadAllBytes(Path.Combine(dir, "again.dll")));
        Console.WriteLine(read.GetType("B").GetMethod("G").Invoke(null, null)); // expect: 3
    }
    static void Try(string what, Action action)
    {
        try { action(); Console.WriteLine(what + " works"); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
    // What cannot be saved.
    static void Bad(string dir)
    {
        var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("bad"), AssemblyBuilderAccess.Save, dir);
        var m = ab.DefineDynamicModule("bad.dll", "bad.dll");
        var t = m.DefineType("T", TypeAttributes.Public);
        Try("uncreated", () => ab.Save("bad.dll")); // expect: uncreated: NotSupportedException
        t.CreateType();
        Try("no directory", () => {
            var other = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("o"), AssemblyBuilderAccess.Save, dir + "/none");
            other.DefineDynamicModule("o.dll", "o.dll");
            other.Save("o.dll");
        }); // expect: no directory: DirectoryNotFoundException
        Try("created", () => ab.Save("bad.dll")); // expect: created works
    }
}
