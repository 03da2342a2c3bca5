// A handler may give an object of a class of its own, derived from Assembly: it has given nothing. (mono reads a word of the object as an address, and ends.)
using System;
using System.IO;
using System.Reflection;

class Fake : Assembly
{
    public long A = 0x4141414141414141, B = 0x4141414141414141;
    public override string FullName { get { return "Fake"; } }
}

static class NoAssembly
{
    static void Main()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) => { Console.WriteLine("asked for " + e.Name); return new Fake(); };
        try { Console.WriteLine(Assembly.Load("Nope")); } // expect: asked for Nope
        catch (FileNotFoundException) { Console.WriteLine("nothing"); } // expect: nothing
        Console.WriteLine(Type.GetType("X, Nope") == null); // expect: asked for Nope, Version=0.0.0.0, Culture=neutral, PublicKeyToken=null
        // expect: True
    }
}
