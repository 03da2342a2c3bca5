// A command line that leaves a quote open, one that has no UTF-8, and a program that is named relative to this process's directory, not to the one to be.
using System;
using System.ComponentModel;
using System.Diagnostics;
using System.IO;

static class OddArguments
{
    static void Run(string program, string arguments, string directory = "")
    {
        try
        {
            var start = new ProcessStartInfo(program, arguments) { UseShellExecute = false, WorkingDirectory = directory };
            using (var process = Process.Start(start)) process.WaitForExit();
        }
        catch (Win32Exception e)
        {
            Console.WriteLine(e.NativeErrorCode);
        }
    }

    static void Main()
    {
        Run("/bin/echo", "'a b' \"c d\""); // expect: a b c d
        Run("/bin/echo", "\"a b");
        // expect: process_create: Unfinished quote.
        // expect:
        // expect: 0
        Run("/bin/echo", "a\\");
        // expect: process_create: Unfinished escape.
        // expect:
        // expect: 0
        Run("/bin/echo", "a\ud800b"); // expect: 3
        string root = Path.Combine(Path.GetTempPath(), "vervet-odd-" + Process.GetCurrentProcess().Id);
        Directory.CreateDirectory(Path.Combine(root, "sub"));
        string tool = Path.Combine(root, "sub", "vervet-odd-tool");
        File.Copy("/bin/echo", tool);
        Directory.SetCurrentDirectory(root);
        Run("sub/vervet-odd-tool", "found", "/"); // expect: found
        Run("./vervet-odd-tool", "found", Path.Combine(root, "sub")); // expect: 2
        Run("vervet-odd-tool", "found", Path.Combine(root, "sub")); // expect: 2
        Directory.SetCurrentDirectory("/");
        Directory.Delete(root, true);
    }
}
