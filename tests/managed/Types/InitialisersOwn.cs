// A class with a static constructor is initialised in front of a static method's or a constructor's first call: an exception's trace begins at the caller.
using System;
using System.Linq;
using System.Runtime.CompilerServices;

class Fails
{
    static Fails() { throw new InvalidOperationException("never"); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Method() { Console.WriteLine("not reached"); }
}
class Other { public static int Field = Say("Other"); public static int Say(string s) { Console.WriteLine("initialises " + s); return 1; } }
class Prints
{
    static Prints() { Console.WriteLine("initialises Prints"); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Method(bool b) { Console.WriteLine("method"); if (b) Console.WriteLine(Other.Field); }
    [MethodImpl(MethodImplOptions.NoInlining)] public Prints() { Console.WriteLine("constructor"); }
}
class Derived : Prints
{
    static Derived() { Console.WriteLine("initialises Derived"); }
    [MethodImpl(MethodImplOptions.NoInlining)] public Derived() { Console.WriteLine("derived constructor"); }
    public void Instance() { Console.WriteLine("instance"); }
}
struct Value
{
    static Value() { Console.WriteLine("initialises Value"); }
    public int X;
    [MethodImpl(MethodImplOptions.NoInlining)] public void Instance() { Console.WriteLine("value " + X); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Static() { Console.WriteLine("static of value"); }
}

static class InitialisersOwn
{
    static void Show(Action action)
    {
        try { action(); }
        catch (TypeInitializationException e) {
            Console.WriteLine(e.TypeName + " " + e.InnerException.Message + " " + e.TargetSite.Name);
            Console.WriteLine(string.Join(" ", e.StackTrace.Split('\n').Select(l => l.Trim().Substring(3).Split('(')[0].Trim())));
        }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Calls() { Fails.Method(); }

    static void Main()
    {
        Show(Calls);
        Show(Calls);
        Show(new Action(Fails.Method));
        Prints.Method(false);
        new Prints();
        new Derived().Instance();
        new Value().Instance();
        Value.Static();
    }
}
