// An assembly that was loaded from bytes is found by its name, by the program and by references, and is another for each load.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class FromBytes
{
    static byte[] Make(string directory, string name, MethodInfo called)
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.RunAndSave, directory);
        var type = assembly.DefineDynamicModule(name, name + ".dll").DefineType(name + "Type", TypeAttributes.Public);
        var method = type.DefineMethod("Text", MethodAttributes.Public | MethodAttributes.Static, typeof(string), Type.EmptyTypes);
        var il = method.GetILGenerator();
        if (called != null) il.Emit(OpCodes.Call, called); else il.Emit(OpCodes.Ldstr, "text of " + name);
        il.Emit(OpCodes.Ret);
        type.CreateType();
        assembly.Save(name + ".dll");
        return File.ReadAllBytes(Path.Combine(directory, name + ".dll"));
    }
    static void Main()
    {
        var directory = Path.Combine(Path.GetTempPath(), "from-bytes-" + Guid.NewGuid());
        Directory.CreateDirectory(directory);
        byte[] first, second;
        Assembly used;
        try
        {
            first = Make(directory, "FirstOfTwo", null);
            used = Assembly.Load(first);
            second = Make(directory, "SecondOfTwo", used.GetType("FirstOfTwoType").GetMethod("Text"));
        }
        finally { Directory.Delete(directory, true); }
        AppDomain.CurrentDomain.AssemblyResolve += (s, e) => { Console.WriteLine("resolve " + e.Name.Split(',')[0]); return null; };

        var user = Assembly.Load(second);
        Console.WriteLine(user.GetType("SecondOfTwoType").GetMethod("Text").Invoke(null, null)); // expect: text of FirstOfTwo
        Console.WriteLine(Assembly.Load("FirstOfTwo") == used); // expect: True
        Console.WriteLine(Assembly.Load(used.FullName) == used); // expect: True
        Console.WriteLine(Type.GetType("FirstOfTwoType, FirstOfTwo") == used.GetType("FirstOfTwoType")); // expect: True
        var again = Assembly.Load(first);
        Console.WriteLine(again == used); // expect: False
        Console.WriteLine(Assembly.Load("FirstOfTwo") == used); // expect: True
        Console.WriteLine("'" + used.Location + "'"); // expect: ''

        // Each domain has its own.
        var domain = AppDomain.CreateDomain("other");
        domain.DoCallBack(Missing); // expect: FileNotFoundException
        domain.SetData("bytes", first);
        domain.DoCallBack(Loaded); // expect: True
        AppDomain.Unload(domain);
        domain = AppDomain.CreateDomain("next");
        domain.DoCallBack(Missing); // expect: FileNotFoundException
        AppDomain.Unload(domain);
    }
    static void Missing()
    {
        try { Console.WriteLine(Assembly.Load("FirstOfTwo")); }
        catch (FileNotFoundException e) { Console.WriteLine(e.GetType().Name); }
    }
    static void Loaded()
    {
        var used = Assembly.Load((byte[])AppDomain.CurrentDomain.GetData("bytes"));
        Console.WriteLine(Assembly.Load("FirstOfTwo") == used);
    }
}
