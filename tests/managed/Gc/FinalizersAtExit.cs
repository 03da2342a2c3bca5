// What is alive when Main returns: finalizers run at the end, critical ones last, and the environment says so.
// Standard output's own stream is among them, so this writes by a native call.
using System;
using System.Runtime.ConstrainedExecution;
using System.Runtime.InteropServices;
using System.Text;

static class FinalizersAtExit
{
    [DllImport("libc")] static extern IntPtr write(int file, byte[] text, IntPtr length);
    static byte[] buffer = new byte[200];
    static void Say(string text)
    {
        int n = Encoding.ASCII.GetBytes(text + "\n", 0, text.Length + 1, buffer, 0);
        write(1, buffer, (IntPtr)n);
    }

    sealed class Last { ~Last() { Say("finalized, shutting down: " + Environment.HasShutdownStarted); } }   // expect: main
    sealed class Suppressed { ~Suppressed() { Say("never"); } }                                             // expect: exit
    sealed class Critical : CriticalFinalizerObject { ~Critical() { Say("critical"); } }                    // expect: finalized, shutting down: True

    static object critical = new Critical(), kept = new Last(), quiet = new Suppressed();                   // expect: critical

    static void Main()
    {
        GC.SuppressFinalize(quiet);
        AppDomain.CurrentDomain.ProcessExit += (sender, e) => Say("exit");
        Say("main");
    }
}
