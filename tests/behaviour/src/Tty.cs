using System;
class Tty { static int Main(string[] args) {
    Console.WriteLine("{0} {1} {2}", Console.IsInputRedirected, Console.IsOutputRedirected, Console.WindowWidth > 0);
    switch (args[0]) {
    case "line": Console.WriteLine("[{0}]", Console.ReadLine()); break;
    case "color": Console.ForegroundColor = ConsoleColor.Red; Console.Write("red"); Console.ResetColor(); Console.WriteLine(); break;
    case "key": Console.WriteLine("{0}", Console.KeyAvailable); var k = Console.ReadKey(true); Console.WriteLine("{0} {1} {2}", k.Key, (int)k.KeyChar, k.Modifiers); break;
    case "exit": Console.WriteLine(Console.KeyAvailable); Environment.Exit(5); break;
    case "throw": Console.WriteLine(Console.KeyAvailable); throw new Exception("on a terminal");
    }
    return 3;
} }
