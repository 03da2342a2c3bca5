using System;
class Input { static void Main(string[] args) {
    if (args.Length > 0 && args[0] == "big") { for (int i = 0; i < 20000; i++) Console.WriteLine("line {0}", i); return; }
    if (args.Length > 0 && args[0] == "partial") { Console.Write("no newline"); Console.Error.Write("err"); return; }
    if (args.Length > 0 && args[0] == "stream") { var s = Console.OpenStandardOutput(); s.Write(new byte[] { 104, 105, 10 }, 0, 3); return; }
    Console.WriteLine("{0} {1} {2}", Console.IsInputRedirected, Console.IsOutputRedirected, Console.IsErrorRedirected);
    Console.Write("name? ");
    string l; while ((l = Console.ReadLine()) != null) Console.WriteLine("[{0}]", l);
    Console.WriteLine("end {0}", Console.Read());
} }
