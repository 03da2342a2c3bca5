// The first call of a method runs the initialisers of the classes with `beforefieldinit` whose static fields its IL names, whether the access is reached or
// not, and then that of its own class.
// mcs: -nowarn:169,219,414,649
// tiers: all
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class Log
{
    public static int Init(string name) { Console.WriteLine("    init " + name); return 1; }
}

class Dead { public static int X = Log.Init("Dead"); }
class Twice { public static int X = Log.Init("Twice"); }
class InHandler { public static int X = Log.Init("InHandler"); }
class InFilter { public static int X = Log.Init("InFilter"); }
class Stored { public static int X = Log.Init("Stored"); }
class Addressed { public static int X = Log.Init("Addressed"); }
class Constant { public static readonly int X = Log.Init("Constant"); public const int K = 5; }
class Short { public static int X = Log.Init("Short"); }
class Own { static int x = Log.Init("Own"); public static void M() { Console.WriteLine("Own.M"); } }
class Made { static int x = Log.Init("Made"); public int M() { return 7; } }
class Property { static int v = Log.Init("Property"); public static int V { get { return v; } set { v = value; } } }
class Base { static int x = Log.Init("Base"); public Base() { Console.WriteLine("Base()"); } public virtual int M() { return 9; } }
class Derived : Base { static int x = Log.Init("Derived"); public int Y = Log.Init("Derived.Y"); public override int M() { return 10; } }
class Called { static int x = Log.Init("Called"); public static int M() { return 12; } }
class Reflected { static int x = Log.Init("Reflected"); public static int M() { return 13; } }
class Synchronised
{
    static int x = Log.Init("Synchronised");
    [MethodImpl(MethodImplOptions.Synchronized)]
    public static void M(bool b) { Console.WriteLine("Synchronised.M"); if (b) Console.WriteLine(InSynchronised.X); }
}
class InSynchronised { public static int X = Log.Init("InSynchronised"); }
class Asked
{
    static int x = Log.Init("Asked");
    [MethodImpl(MethodImplOptions.AggressiveInlining)] public static int M() { return 4; }
}
class AskedPrecise
{
    static AskedPrecise() { Log.Init("AskedPrecise"); }
    [MethodImpl(MethodImplOptions.AggressiveInlining)] public static int M() { return 4; }
}
class Precise { public static int X; static Precise() { X = Log.Init("Precise"); } }
struct Point
{
    public static readonly Point Origin = Make();
    public int X;
    static Point Make() { Log.Init("Point"); return new Point(); }
    public int Get() { return X; }
    public static Point operator +(Point a, Point b) { return new Point { X = a.X + b.X }; }
}
class Single
{
    public static readonly Single A = new Single("a"), B = new Single("b");
    static int count = Log.Init("Single.count");
    Single(string name) { Console.WriteLine("Single " + name + " " + count); }
}
class First { public static int X = Log.Init("First") + Second.Get(); public static int Get() { return X + 10; } }
class Second { public static int X = Log.Init("Second") + First.Get(); public static int Get() { return X + 100; } }
class Tree { static int x = Log.Init("Tree"); public class Leaf { public static int X = Log.Init("Tree.Leaf"); } public static int M() { return Leaf.X; } }

static class InitialisersFirstCall
{
    static int own = Log.Init("InitialisersFirstCall");

    static void Unreached(bool b)
    {
        Console.WriteLine("Unreached");
        if (b) { Console.WriteLine(Dead.X); Console.WriteLine(Twice.X); Console.WriteLine(Dead.X); }
    }
    static void Handler()
    {
        try { Console.WriteLine("try"); }
        catch (Exception e) when (InFilter.X == 0) { Console.WriteLine(e); }
        catch (Exception e) { Console.WriteLine(InHandler.X); Console.WriteLine(e); }
    }
    static void Stores(bool b) { Console.WriteLine("Stores"); if (b) { Stored.X = 3; Interlocked.Increment(ref Addressed.X); } }
    static void Constants(bool b) { Console.WriteLine("Constants"); if (b) { Console.WriteLine(Constant.K); Console.WriteLine(Constant.X); } }
    // So short that mono puts it in the place of a call: then the access is where it is.
    static int Tiny(bool b) { return b ? Short.X : 0; }
    static void Precisely(bool b) { Console.WriteLine("Precisely"); if (b) Console.WriteLine(Precise.X); }
    static void Asks(bool b) { Console.WriteLine("Asks"); if (b) { Console.WriteLine(Asked.M()); Console.WriteLine(AskedPrecise.M()); } }
    static void Instance() { Console.WriteLine("Instance"); var made = new Made(); Console.WriteLine(made.M()); }
    static void Properties() { Console.WriteLine("Properties"); Property.V = 3; Console.WriteLine(Property.V); }
    static void Virtual() { Console.WriteLine("Virtual"); Base b = new Derived(); Console.WriteLine(b.M()); }
    static void Structs()
    {
        Console.WriteLine("Structs");
        var p = new Point();
        Console.WriteLine(p.X);
        Console.WriteLine((p + p).Get());
    }
    static void Singles() { Console.WriteLine("Singles"); Console.WriteLine(Single.A == Single.B); }
    static void Cycle() { Console.WriteLine("Cycle"); Console.WriteLine(First.Get()); Console.WriteLine(Second.X); }
    static void Closures() { Console.WriteLine("Closures"); Func<int> f = () => Tree.Leaf.X; Console.WriteLine("made"); f(); Console.WriteLine(Tree.M()); }

    static void Main()
    {
        Console.WriteLine("Main");
        Unreached(false);
        Handler();
        Stores(false);
        Constants(false);
        Console.WriteLine(Tiny(false));
        Console.WriteLine(Tiny(true));
        Own.M();
        Instance();
        Properties();
        Virtual();
        Func<int> f = Called.M;
        Console.WriteLine("delegate");
        f();
        var m = typeof(Reflected).GetMethod("M");
        Console.WriteLine("method");
        m.Invoke(null, null);
        Synchronised.M(false);
        Asks(false);
        Precisely(false);
        Structs();
        Singles();
        Cycle();
        Closures();
    }
}
