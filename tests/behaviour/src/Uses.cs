using System;
using System.Runtime.InteropServices;
using System.Runtime.CompilerServices;
class Uses {
    [DllImport("nolib")] static extern int F();
    [DllImport("libc")] static extern int no_such_function();
    [MethodImpl(MethodImplOptions.InternalCall)] static extern int Icall(int x);
    class Derived : Gone { }
    class Implements : IGone { public void M() { } }
    struct Holds { public GoneStruct g; }
    static void Method() { Lib.Method(1, "x"); }
    static void Field() { Console.WriteLine(Lib.field); }
    static void Virtual() { new Lib().Virtual(); }
    static void Gone() { Console.WriteLine(new Gone().x); }
    static void GoneBase() { Console.WriteLine(new Derived()); }
    static void GoneInterface() { Console.WriteLine(new Implements()); }
    static void GoneStruct() { Console.WriteLine(new Holds().g.x); }
    static void Where() { Console.WriteLine(Lib.Where()); }
    static void Main(string[] args) {
        Console.WriteLine("start");
        Action a = null;
        switch (args[0]) {
        case "method": a = Method; break;
        case "field": a = Field; break;
        case "virtual": a = Virtual; break;
        case "type": a = Gone; break;
        case "base": a = GoneBase; break;
        case "interface": a = GoneInterface; break;
        case "struct": a = GoneStruct; break;
        case "where": a = Where; break;
        case "lib": a = () => F(); break;
        case "function": a = () => no_such_function(); break;
        case "icall": a = () => Icall(1); break;
        }
        if (args.Length > 1) try { a(); } catch (Exception e) { Console.WriteLine("{0}: {1}", e.GetType(), e.Message); }
        else a();
    }
}
