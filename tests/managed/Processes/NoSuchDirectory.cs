// mcs: -r:System.dll
// A child that cannot enter its working directory is started all the same, and ends with 255; a program that is not there is an error whatever the directory.
using System;
using System.ComponentModel;
using System.Diagnostics;

static class NoSuchDirectory
{
    static void Start(string program, string directory, bool shell)
    {
        try {
            var info = new ProcessStartInfo(program) { WorkingDirectory = directory, UseShellExecute = shell, RedirectStandardOutput = !shell };
            using (var p = Process.Start(info)) {
                string output = shell ? "" : p.StandardOutput.ReadToEnd().Trim();
                p.WaitForExit();
                Console.WriteLine("{0} [{1}]", p.ExitCode, output);
            }
        } catch (Win32Exception e) {
            Console.WriteLine("error {0}", e.NativeErrorCode);
        }
    }
    static void Main()
    {
        Start("/bin/pwd", "/usr", false); // expect: 0 [/usr]
        Start("/bin/pwd", "/no/such/directory", false); // expect: 255 []
        Start("/bin/pwd", "/etc/passwd", false); // expect: 255 []
        Start("/bin/true", "/no/such/directory", true); // expect: 255 []
        Start("/no/such/program", "/no/such/directory", false); // expect: error 2
    }
}
