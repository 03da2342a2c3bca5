using System;
using System.Threading;
class Tty { static int Main(string[] args) {
    Console.WriteLine("{0} {1} {2}", Console.IsInputRedirected, Console.IsOutputRedirected, Console.WindowWidth > 0);
    switch (args[0]) {
    case "line": Console.WriteLine("[{0}]", Console.ReadLine()); break;
    case "color": Console.ForegroundColor = ConsoleColor.Red; Console.Write("red"); Console.ResetColor(); Console.WriteLine(); break;
    case "key": Console.WriteLine("{0}", Console.KeyAvailable); var k = Console.ReadKey(true); Console.WriteLine("{0} {1} {2}", k.Key, (int)k.KeyChar, k.Modifiers); break;
    case "read": Console.TreatControlCAsInput = true; Console.WriteLine("{0} {1}", Console.TreatControlCAsInput, Console.KeyAvailable); var c = Console.ReadKey(true); Console.WriteLine("{0} {1} {2}", c.Key, (int)c.KeyChar, c.Modifiers); break;
    case "exit": Console.WriteLine(Console.KeyAvailable); Environment.Exit(5); break;
    case "cancel": case "cancelled": case "toggled":
        if (args[0] == "toggled") { Console.TreatControlCAsInput = true; Console.TreatControlCAsInput = false; }
        var heard = new ManualResetEvent(false);
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine("process exit");
        Console.CancelKeyPress += (s, e) => { Console.WriteLine("{0} {1}", e.SpecialKey, e.Cancel); e.Cancel = args[0] != "cancel"; if (e.Cancel) heard.Set(); };
        Console.WriteLine(Console.KeyAvailable);
        Console.WriteLine(heard.WaitOne(15000));
        break;
    case "interrupted": Console.WriteLine(Console.KeyAvailable); Thread.Sleep(15000); break;
    case "throw": Console.WriteLine(Console.KeyAvailable); throw new Exception("on a terminal");
    }
    return 3;
} }
