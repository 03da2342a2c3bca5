// The assembly's name within a type's name is read more leniently than one by itself.
using System;
using System.Reflection;

static class AssemblyInTypeName
{
    static void Find(string name)
    {
        object found;
        try { found = Type.GetType(name, true); }
        catch (Exception e) { found = e.GetType().Name + ": " + e.Message.Split('\n')[0]; }
        Console.WriteLine("{0} => {1}", name, found);
    }
    static void Main()
    {
        const string full = "System, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089";
        Console.WriteLine(Assembly.Load(full).FullName);
        foreach (var end in new[] { ", Custom=null", ", Foo", ", Foo=Bar=Baz", ",", ", Custom=x,", " Foo" }) Find("System.Uri, " + full + end);
        foreach (var part in new[] { "Custom=null", "Custom = null", "custom=x y", "Version=x", "Version=", "Version=4", "Culture=", "Culture=neutral2, Custom=null", "PublicKeyToken=", "PublicKeyToken=null",
            "PublicKeyToken=nullx, Foo", "PublicKeyToken=B77A5C561934E089", "ProcessorArchitecture=foo", "Retargetable=maybe", "=x", "Custom=\"a,b\"", "Language=neutral", "Version=4.0.0.0 ," })
            Find("System.Uri, System, " + part);
        Find("System.Uri, System, Version=4.0.0.0, Custom=null, Culture=neutral, PublicKeyToken=b77a5c561934e089");
        Find("System.Collections.Generic.List`1[[System.Uri, System, Version=4.0.0.0, Custom=null]]");
        foreach (var name in new[] { "A.B[", "A.B, X,", "A.B.C, X, ", "A.B[],", "B,", "A.B ,", "A+B,X,", "A.B+C,", "A.B[[C.D, X,]]", "A.B, X Y", "A.B, X!Y, Z", "A.B, \"X\", Z=1", "A.B, 'X', Custom=2", "A.B, X , Custom=1" }) Find(name);
        try { Console.WriteLine(new AssemblyName("System, Custom=null").FullName); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name); }
    }
}
