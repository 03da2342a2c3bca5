using System;
class UsesStrong {
    static void Main() {
        try { Go(); } catch (Exception e) { Console.WriteLine("{0}: {1}", e.GetType(), e.Message); }
    }
    static void Go() { Console.WriteLine("{0} {1}", Strong.Which, typeof(Strong).Assembly.Location); }
}
