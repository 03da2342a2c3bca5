// What a process is started with ends at its first NUL, and a vertical tab is a blank.
using System;
using System.Diagnostics;

static class NulsInArguments
{
    static void Run(string program, string arguments, Action<ProcessStartInfo> more)
    {
        var start = new ProcessStartInfo(program, arguments) { UseShellExecute = false, RedirectStandardOutput = true };
        more(start);
        using (var process = Process.Start(start))
            Console.WriteLine(process.StandardOutput.ReadToEnd().TrimEnd().Replace("\v", "^"));
    }

    static void Main()
    {
        Run("printf", "[%s] a\vb 'c\vd' \"e\vf\" g\\\vh \v i", s => { });
        // expect: [a][b][c^d][e^f][gh][i]
        Run("printf", "[%s] a\0 b", s => { }); // expect: [a]
        Run("printf\0x", "[%s] a", s => { }); // expect: [a]
        Run("pwd", "", s => s.WorkingDirectory = "/\0nowhere"); // expect: /
        Run("printenv", "NULS", s => s.EnvironmentVariables["NULS"] = "x\0y"); // expect: x
    }
}
