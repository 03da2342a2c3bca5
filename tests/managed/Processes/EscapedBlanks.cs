// A backslash in the arguments of a process: a blank behind it is nothing, and at the end of a line within quotes it stays.
using System;
using System.Diagnostics;

static class EscapedBlanks
{
    static void Print(string arguments)
    {
        var start = new ProcessStartInfo("printf", "[%s] " + arguments) { UseShellExecute = false, RedirectStandardOutput = true };
        using (var process = Process.Start(start))
            Console.WriteLine(process.StandardOutput.ReadToEnd().Replace("\n", "^"));
    }

    static void Main()
    {
        Print(@"h\ i"); // expect: [hi]
        Print("a\\\tb"); // expect: [ab]
        Print("a\\\nb"); // expect: [ab]
        Print(@"a \  b"); // expect: [a][b]
        Print("\"a\\\nb\""); // expect: [a\^b]
        Print(@"""a\ b"" 'c\ d'"); // expect: [a\ b][c\ d]
        Print(@"\a a\\b a\'b"); // expect: [a][a\b][a'b]
    }
}
