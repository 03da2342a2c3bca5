// Where mono shares the code of a generic method between reference types, it initialises at the access what depends on the type arguments; the rest at the
// first call.
// mcs: -nowarn:169,219,414,649
// tiers: all
using System;
using System.Collections.Generic;
using System.Threading.Tasks;

static class Log
{
    public static int Init(string name) { Console.WriteLine("    init " + name); return 1; }
}
class Box<T> { public static int X = Log.Init("Box<" + typeof(T).Name + ">"); }
class Own<T>
{
    static int x = Log.Init("Own<" + typeof(T).Name + ">");
    public static void M() { Console.WriteLine("Own.M"); }
    public void I() { Console.WriteLine("Own.I"); }
}
class Plain { public static int X = Log.Init("Plain"); }
class InIterator { public static int X = Log.Init("InIterator"); }
class InAsync { public static int X = Log.Init("InAsync"); }
interface IOne { int M(); }
class One<T> : IOne { static int x = Log.Init("One<" + typeof(T).Name + ">"); public int M() { return 1; } }

class User<T>
{
    public static void M(bool b) { Console.WriteLine("User.M " + typeof(T).Name); if (b) Console.WriteLine(Box<T>.X); }
    public static void Closed(bool b) { Console.WriteLine("User.Closed " + typeof(T).Name); if (b) Console.WriteLine(Box<Type>.X); }
}

static class InitialisersGeneric
{
    static void M<T>(bool b)
    {
        Console.WriteLine("M " + typeof(T).Name);
        if (b) Console.WriteLine(Box<T>.X);
        if (b) Console.WriteLine(Plain.X);
    }
    static IEnumerable<int> Iterate(bool b)
    {
        Console.WriteLine("Iterate");
        yield return 1;
        if (b) yield return InIterator.X;
    }
    static async Task<int> Wait(bool b)
    {
        Console.WriteLine("Wait");
        await Task.Yield();
        return b ? InAsync.X : 0;
    }
    static void Interfaces()
    {
        IOne one = new One<int>();
        Console.WriteLine("made");
        one.M();
        one = new One<string>();
        one.M();
        Activator.CreateInstance(typeof(One<>).MakeGenericType(typeof(object)));
    }
    static void Main()
    {
        M<int>(false);
        M<string>(false);
        M<object>(false);
        M<string>(true);
        User<long>.M(false);
        User<Version>.M(false);
        User<Version>.M(true);
        User<Uri>.Closed(false);
        Own<int>.M();
        Own<string>.M();
        new Own<object>();
        Console.WriteLine("made");
        new Own<Type>().I();
        foreach (int i in Iterate(false)) Console.WriteLine(i);
        Wait(false).Wait();
        Interfaces();
    }
}
