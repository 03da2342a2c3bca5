// (Mono makes such a call in the handler.) A handler calls a delegate that returns something: the process ends and says why, whatever the signal has interrupted. Each
// way runs in a process of its own.
// cc:
// mcs: -r:System.dll
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;

static class SignalRefused
{
    delegate int Callback(int number);
    [DllImport("SignalRefused")] static extern int install(int number, Callback f);
    [DllImport("SignalRefused")] static extern int raise_here(int number);
    [DllImport("SignalRefused")] static extern int raise_soon();
    const int Alarm = 14;
    static object kept;

    static void Child(string how)
    {
        Callback callback = n => n;
        install(Alarm, callback);
        if (how == "native") raise_here(Alarm);
        raise_soon();
        for (;;) switch (how) {
            case "allocate": kept = new byte[100]; break;
            case "collect": GC.Collect(0); break;
            case "compute": kept = null; break;
            default: System.Threading.Thread.Sleep(1); break;
        }
    }

    static void Main(string[] args)
    {
        if (args.Length > 0) { Child(args[0]); return; }
        foreach (string how in new[] { "native", "allocate", "collect", "compute", "sleep" }) {
            var start = new ProcessStartInfo(Process.GetCurrentProcess().MainModule.FileName,
                typeof(SignalRefused).Assembly.Location + " " + how) { UseShellExecute = false, RedirectStandardError = true };
            using (var p = Process.Start(start)) {
                string text = p.StandardError.ReadToEnd();
                p.WaitForExit();
                Console.WriteLine(how + " " + p.ExitCode + " " + text.Trim());
            }
        }
    }
}
