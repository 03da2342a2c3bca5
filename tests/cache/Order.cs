// Prints when assemblies are loaded and when classes are initialised, with what a library says.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;

class Early {
    public static readonly int Value = Say("Early", 1);
    public static int Say(string name, int n) { Console.WriteLine("initialise " + name); return n; }
}
class Late {
    public static int Value;
    static Late() { Value = Early.Say("Late", 2); }
}
class Generic<T> {
    public static readonly string Name = typeof(T).Name;
    static Generic() { Early.Say("Generic of " + typeof(T).Name, 0); }
}
interface IShape { int Area(); }
struct Square : IShape { public int Side; public int Area() { return Side * Side; } }
class Program {
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int UsesLate(int n) { return n > 0 ? Late.Value : 0; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string UsesLibrary() { return Library.Answer.Text(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int UsesLinq() { return new List<Square> { new Square { Side = 2 }, new Square { Side = 3 } }.Sum(s => ((IShape)s).Area()); }
    static int Main(string[] args) {
        AppDomain.CurrentDomain.AssemblyLoad += (o, e) => Console.WriteLine("loaded " + e.LoadedAssembly.GetName().Name);
        // With an argument, classes are initialised in the other order.
        if (args.Length > 0) Console.WriteLine(UsesLate(1));
        Console.WriteLine(UsesLate(0));
        Console.WriteLine(Early.Value + UsesLate(1));
        Console.WriteLine(Generic<string>.Name + Generic<Square>.Name);
        Console.WriteLine(UsesLinq());
        try { Console.WriteLine(UsesLibrary()); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name); }
        try { object o = null; o.ToString(); }
        catch (NullReferenceException e) { Console.WriteLine(e.StackTrace.Split('\n').Length); }
        return 0;
    }
}
