using System;
using System.ComponentModel;
using System.Diagnostics;
using System.Linq;
using System.Text;
using System.Threading;

// Processes: streams, exit codes, signals, managed children, the Exited event, waiting, what cannot be started, facts.
static class Children
{
	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }
	static void Try (string what, Action a)
	{
		try { a (); Say (what, "ok"); }
		catch (Win32Exception e) { Say (what, e.GetType ().Name + " " + e.NativeErrorCode); }
		catch (Exception e) { Say (what, e.GetType ().Name); }
	}
	static ProcessStartInfo Info (string file, string arguments = "") { return new ProcessStartInfo (file, arguments) { UseShellExecute = false }; }
	static Process Shell (string script, bool redirect = true)
	{
		var info = Info ("/bin/sh", "-c \"" + script + "\"");
		info.RedirectStandardOutput = info.RedirectStandardError = info.RedirectStandardInput = redirect;
		return Process.Start (info);
	}

	static int Child (string [] args)
	{
		Console.WriteLine ("child " + string.Join ("|", args));
		Console.Error.WriteLine ("variable " + Environment.GetEnvironmentVariable ("CHILDREN_TEST"));
		string line;
		while ((line = Console.ReadLine ()) != null)
			Console.WriteLine ("echo " + line);
		return int.Parse (args [0]);
	}

	static int Main (string [] args)
	{
		if (args.Length > 0)
			return Child (args);

		using (var p = Shell ("echo out; echo err >&2; read x; echo got $x; exit 7")) {
			p.StandardInput.WriteLine ("in");
			Say ("output", p.StandardOutput.ReadToEnd ().Replace ("\n", ","));
			Say ("error", p.StandardError.ReadToEnd ().Trim ());
			p.WaitForExit ();
			Say ("exit code", p.ExitCode + " " + p.HasExited);
			Say ("times", (p.ExitTime >= p.StartTime) + " " + (p.TotalProcessorTime.TotalSeconds < 20));
		}

		// Itself as a child, with lines as they come.
		var info = Info (typeof (Children).Assembly.Location, "5 \"a b\" 'c d'");
		info.EnvironmentVariables ["CHILDREN_TEST"] = "set";
		info.RedirectStandardOutput = info.RedirectStandardError = info.RedirectStandardInput = true;
		using (var p = new Process { StartInfo = info, EnableRaisingEvents = true }) {
			// (Not disposed of: the class library may raise Exited a second time, from the pool and from WaitForExit, as it does on mono.)
			var exited = new ManualResetEvent (false);
			var lines = new StringBuilder ();
			DataReceivedEventHandler received = (s, e) => { if (e.Data != null) lock (lines) lines.Append (e.Data + ";"); };
			p.OutputDataReceived += received;
			p.ErrorDataReceived += received;
			p.Exited += (s, e) => exited.Set ();
			p.Start ();
			p.BeginOutputReadLine ();
			p.BeginErrorReadLine ();
			p.StandardInput.WriteLine ("one");
			p.StandardInput.WriteLine ("two");
			p.StandardInput.Close ();
			p.WaitForExit ();
			Say ("managed", string.Join (";", lines.ToString ().Split (';').OrderBy (l => l, StringComparer.Ordinal)) + " " + p.ExitCode);
			Say ("exited", exited.WaitOne (20000));
		}

		using (var p = Shell ("exec sleep 100", false)) {
			Say ("running", p.HasExited + " " + p.WaitForExit (30));
			Try ("code of a running one", () => Say ("code", p.ExitCode));
			p.Kill ();
			p.WaitForExit ();
			Say ("killed", p.ExitCode + " " + p.HasExited);
			Try ("killed again", p.Kill);
		}

		Try ("missing", () => Process.Start (Info ("no-such-program")));
		Try ("missing, by the shell", () => Process.Start ("no-such-program"));
		Try ("not executable", () => Process.Start (Info ("/etc/passwd")));
		Try ("streams and shell", () => Process.Start (new ProcessStartInfo ("/bin/true") { UseShellExecute = true, RedirectStandardOutput = true }));
		Try ("no name", () => new Process ().Start ());
		Try ("nobody's id", () => Process.GetProcessById (99999999));

		info = Info ("/bin/sh", "-c pwd");
		info.WorkingDirectory = "/usr";
		info.RedirectStandardOutput = true;
		using (var p = Process.Start (info)) {
			Say ("directory", p.StandardOutput.ReadLine ());
			p.WaitForExit ();
		}

		using (var self = Process.GetCurrentProcess ()) {
			Say ("by id", Process.GetProcessById (self.Id).ProcessName == self.ProcessName);
			Say ("among all", Process.GetProcesses ().Any (p => p.Id == self.Id));
			Say ("by name", Process.GetProcessesByName (self.ProcessName).Any (p => p.Id == self.Id));
			Say ("facts", (self.WorkingSet64 > 0) + " " + (self.VirtualMemorySize64 > 0) + " " + (self.PeakWorkingSet64 > 0) + " " + (self.PriorityClass == Process.GetCurrentProcess ().PriorityClass));
		}

		// The end of a process that was found, not started.
		using (var started = Process.Start (Info ("/bin/sleep", "0.2"))) using (var found = Process.GetProcessById (started.Id)) {
			// (Not disposed of: the class library may raise Exited a second time, from the pool and from WaitForExit, as it does on mono.)
			var exited = new ManualResetEvent (false);
			found.EnableRaisingEvents = true;
			found.Exited += (s, e) => exited.Set ();
			Say ("found one exits", exited.WaitOne (20000));
		}

		var many = Enumerable.Range (0, 20).Select (i => Shell ("exit " + i, false)).ToArray ();
		Say ("codes", string.Join (",", many.Select (p => { p.WaitForExit (); return p.ExitCode; })));
		using (var p = Shell ("head -c 300000 /dev/zero | tr '\\0' a; head -c 300000 /dev/zero | tr '\\0' b >&2")) {
			var output = p.StandardOutput.ReadToEndAsync ();
			var error = p.StandardError.ReadToEndAsync ();
			p.WaitForExit ();
			Say ("much", output.Result.Length + " " + error.Result.Length);
		}

		// Handles given back before the end leave no zombies.
		int before = Zombies ();
		for (int i = 0; i < 10; i++)
			Shell ("exit 0", false).Dispose ();
		Say ("no zombies", SpinWait.SpinUntil (() => Zombies () <= before, 20000));
		return 0;
	}

	static int Zombies ()
	{
		int me = Process.GetCurrentProcess ().Id, n = 0;
		foreach (var directory in System.IO.Directory.GetDirectories ("/proc"))
			try {
				var text = System.IO.File.ReadAllText (directory + "/stat");
				var rest = text.Substring (text.LastIndexOf (')') + 2).Split (' ');
				if (rest [0] == "Z" && rest [1] == me.ToString ())
					n++;
			} catch (Exception) { }
		return n;
	}
}
