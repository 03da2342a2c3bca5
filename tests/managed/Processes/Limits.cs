// What Linux has no notion of fails as in mono: limits of the working set, a process that is idle. CloseMainWindow sends SIGTERM, Kill SIGKILL.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;

class P {
	static void Try (string name, Func<object> action) {
		try { Console.WriteLine (name + ": " + action ()); }
		catch (Exception e) { Console.WriteLine (name + ": " + e.GetType () + ": " + e.Message.Replace ("\n", "|")); }
	}

	static int End (Action<Process> action) {
		using (var p = Process.Start (new ProcessStartInfo ("sh", "-c \"trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done\"") { UseShellExecute = false, RedirectStandardOutput = true })) {
			p.StandardOutput.ReadLine ();
			action (p);
			p.WaitForExit ();
			return p.ExitCode;
		}
	}

	static void Main () {
		var own = Process.GetCurrentProcess ();
		Try ("MaxWorkingSet", () => own.MaxWorkingSet);
		Try ("MinWorkingSet", () => own.MinWorkingSet);
		Try ("set MaxWorkingSet", () => own.MaxWorkingSet = (IntPtr) 1000000);
		Try ("set MinWorkingSet", () => own.MinWorkingSet = (IntPtr) 1000);
		Try ("WaitForInputIdle", () => own.WaitForInputIdle ());
		Try ("WaitForInputIdle 10", () => own.WaitForInputIdle (10));
		Try ("CloseMainWindow", () => End (p => p.CloseMainWindow ()));
		Try ("Kill", () => End (p => p.Kill ()));
		foreach (var copy in new Action[] {
			() => Marshal.Copy (new int[1], 0, IntPtr.Zero, 1), () => Marshal.Copy (new byte[1], 0, IntPtr.Zero, 0), () => Marshal.Copy (IntPtr.Zero, new byte[1], 0, 1),
			() => Marshal.Copy ((byte[]) null, 0, (IntPtr) 1, 1), () => Marshal.Copy ((IntPtr) 1, (byte[]) null, 0, 1) })
			Try ("Copy", () => { copy (); return "copied"; });
	}
}
