using System;
class Spin {
    static int n;
    static void Inner(int depth) { if (depth > 0) { Inner(depth - 1); return; } Console.WriteLine("ready"); while (n >= 0) n = (n + 1) & 0xFFFF; }
    static void Sleep() { Console.WriteLine("ready"); System.Threading.Thread.Sleep(20000); }
    static void Main(string[] a) { if (a[0] == "spin") Inner(3); else if (a[0] == "sleep") Sleep(); else { Console.WriteLine("ready"); Console.ReadLine(); } }
}
