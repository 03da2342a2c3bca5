// mcs: -nowarn:219
// Classes of COM derive from a class of the class library; `new` of one asks the class library, which looks for a library that is not there.
using System;
using System.Runtime.InteropServices;

[ComImport, Guid("000209FF-0000-0000-C000-000000000046")]
class Imported { }
[ComImport, Guid("000209FF-0000-0000-C000-000000000047"), InterfaceType(ComInterfaceType.InterfaceIsIUnknown)]
interface ICalled { void Call(); }
[ComImport, Guid("000209FF-0000-0000-C000-000000000048")]
class Calling : ICalled
{
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.InternalCall)]
    public extern void Call();
}
[CoClass(typeof(Imported)), ComImport, Guid("000209FF-0000-0000-C000-000000000049")]
interface IMade { }
class Derived : Imported { public int Field = 1; }

static class ImportedClasses
{
    static void Try(Action action)
    {
        try { action(); }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType() + ": " + e.Message);
            Console.WriteLine(e.StackTrace.Substring(0, e.StackTrace.IndexOf('\n')));
        }
    }

    static void Main()
    {
        Try(() => new Imported());
        Try(() => new Calling().Call());
        Try(() => new Derived());
        Try(() => { var made = new IMade(); });
        foreach (var type in new[] { typeof(Imported), typeof(Calling), typeof(Derived), typeof(ICalled), typeof(object), typeof(Imported[]), typeof(Imported).BaseType })
            Console.WriteLine(type + " " + type.BaseType + " " + type.IsCOMObject + " " + type.IsImport + " " + type.IsMarshalByRef);
        Console.WriteLine(new Imported[2].Length + " " + typeof(Imported).IsSubclassOf(typeof(MarshalByRefObject)));
    }
}
