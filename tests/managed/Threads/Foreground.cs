// exit: 7
using System;
using System.Threading;

// Foreground threads keep the process alive when Main has returned, background threads do not; the last exit code counts.
static class Foreground
{
	static int Main ()
	{
		AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine ("exit"); // expect: main
		var forever = new Thread (() => Thread.Sleep (Timeout.Infinite)) { IsBackground = true };
		forever.Start ();
		var spins = new Thread (() => { for (;;) ; }) { IsBackground = true };
		spins.Start ();
		var later = new Thread (() => { Thread.Sleep (Timeout.Infinite); });
		later.Start ();
		var worker = new Thread (() => {
			Thread.Sleep (50);
			var next = new Thread (() => { Thread.Sleep (20); Console.WriteLine ("second"); Environment.ExitCode = 7; later.IsBackground = true; }); // expect: first
			next.Start ();
			Console.WriteLine ("first"); // expect: second
		});
		Console.WriteLine ("main"); // expect: exit
		worker.Start ();
		return 3;
	}
}
