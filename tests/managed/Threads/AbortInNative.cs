// An abort ends the system call that a thread waits in below a P/Invoke, however the library calls it; one call, also if the abort has to wait.
// mcs: -r:System.Core.dll
// expect: sleep: aborted
// expect: pause: aborted
// expect: read: aborted
// expect: System.Native read: aborted
// expect: finally: aborted
// expect: calls that ended in the finally block: 1
using System;
using System.IO;
using System.IO.Pipes;
using System.Runtime.InteropServices;
using System.Threading;

static class AbortInNative {
    [DllImport ("libc")] static extern uint sleep (uint seconds);
    [DllImport ("libc")] static extern int pause ();
    [DllImport ("libc")] static extern int poll (IntPtr descriptors, UIntPtr count, int milliseconds);
    [DllImport ("libc")] static extern IntPtr read (int descriptor, byte[] buffer, IntPtr count);
    [DllImport ("libc")] static extern int pipe (int[] descriptors);

    static void Abort (string name, ThreadStart work) {
        bool aborted = false;
        var begun = new ManualResetEvent (false);
        var thread = new Thread (() => {
            try {
                begun.Set ();
                work ();
                Thread.Sleep (0);
            } catch (ThreadAbortException) {
                aborted = true;
            }
        });
        thread.IsBackground = true;
        thread.Start ();
        begun.WaitOne ();
        Thread.Sleep (50);
        thread.Abort ();
        bool ended = thread.Join (60000);
        Console.WriteLine ("{0}: {1}", name, !ended ? "does not end" : aborted ? "aborted" : "ended");
    }

    static void Main () {
        var descriptors = new int[2];
        pipe (descriptors);
        Abort ("sleep", () => sleep (300));
        Abort ("pause", () => pause ());
        Abort ("read", () => read (descriptors[0], new byte[1], (IntPtr) 1));
        var server = new AnonymousPipeServerStream (PipeDirection.In);
        Abort ("System.Native read", () => {
            try {
                server.Read (new byte[1], 0, 1);
            } catch (IOException) {
            }
        });
        int ended = 0;
        Abort ("finally", () => {
            try {
            } finally {
                for (int i = 0; i < 20; i++)
                    ended += poll (IntPtr.Zero, UIntPtr.Zero, 50) < 0 ? 1 : 0;
            }
        });
        Console.WriteLine ("calls that ended in the finally block: {0}", ended);
    }
}
