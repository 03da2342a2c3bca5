// Names of types that nobody writes, read as mono reads them.
using System;

class Program {
    static void Ask(string name) {
        string found;
        try { found = Type.GetType(name, true).FullName; } catch (Exception e) { found = e.GetType().Name; }
        Console.WriteLine(found);
    }
    static void Main() {
        Ask("System.Int32\0, nowhere"); // expect: System.Int32
        Ask("  System.Int32"); // expect: System.Int32
        Ask("\tSystem.Int32"); // expect: TypeLoadException
        Ask("\u00a0System.Int32"); // expect: TypeLoadException
        Ask("."); // expect: ArgumentException
        Ask("System."); // expect: ArgumentException
        Ask("System.Int32[*,*]"); // expect: ArgumentException
        Ask("System.Int32[*]"); // expect: System.Int32[*]
    }
}
