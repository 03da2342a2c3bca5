// Where the trace of a failed class constructor begins: in mono's function for it, where code names a field or makes an object; in the caller, where a method is called.
using System;
using System.Linq;
using System.Runtime.CompilerServices;

class Precise
{
    static Precise() { throw new Exception("precise"); }
    public static int Field;
    public int Own;
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Method() { Console.WriteLine("reached"); }
    [MethodImpl(MethodImplOptions.NoInlining)] public Precise() { Own = 1; }
    [MethodImpl(MethodImplOptions.NoInlining)] public Precise(int own) : this() { Own = own; }
}
class Derived : Precise
{
    [MethodImpl(MethodImplOptions.NoInlining)] public Derived() { Own = 2; }
}
class Relaxed
{
    public static int Field = int.Parse("x");
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Method() { Console.WriteLine(Field); }
}
class Generic<T>
{
    static Generic() { throw new Exception("generic"); }
    public static int Field;
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Method() { Console.WriteLine("reached"); }
}
struct Value
{
    static Value() { throw new Exception("value"); }
    public static int Field;
    public int Own;
    [MethodImpl(MethodImplOptions.NoInlining)] public Value(int own) { Own = own; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static void Method() { Console.WriteLine("reached"); }
}

static class InitialiserFrames
{
    static void Show(string what, Action action)
    {
        for (int i = 0; i < 2; i++)
        {
            Console.WriteLine(what);
            try { action(); }
            catch (TypeInitializationException e)
            {
                foreach (string line in e.StackTrace.Split('\n').Select(l => l.Split('[')[0].TrimEnd())) Console.WriteLine(line);
            }
        }
    }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Store() { Precise.Field = 3; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Load() { return Precise.Field; }

    static void Main()
    {
        Show("store", Store);
        Show("load", () => Load());
        Show("increment", () => Precise.Field++);
        Show("call", () => Precise.Method());
        Show("new", () => new Precise());
        Show("new that calls another constructor", () => new Precise(1));
        Show("new of a derived class", () => new Derived());
        Show("field of a class that may be initialised early", () => Console.WriteLine(Relaxed.Field));
        Show("call of its method", () => Relaxed.Method());
        Show("generic field", () => Generic<int>.Field = 1);
        Show("generic call", () => Generic<int>.Method());
        Show("shared field", () => Generic<string>.Field = 1);
        Show("shared call", () => Generic<string>.Method());
        Show("field of a struct", () => Value.Field = 1);
        Show("constructor of a struct", () => new Value(1));
        Show("call of a struct's method", () => Value.Method());
        Show("delegate", () => { Action method = Precise.Method; method(); });
    }
}
