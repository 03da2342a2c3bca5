using System;
using System.Threading;

// How a process ends whose Main returns nothing, and what its threads see of that.
static class VoidMain
{
	static void Main (string [] args)
	{
		AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine ("ProcessExit {0}", Environment.ExitCode);
		if (args.Length > 1) Environment.ExitCode = int.Parse (args [1]);
		switch (args [0]) {
		case "abort":
			Thread.CurrentThread.Abort ();
			break;
		case "background": {
			var ready = new ManualResetEvent (false);
			var thread = new Thread (() => {
				try { ready.Set (); Thread.Sleep (Timeout.Infinite); }
				catch (ThreadAbortException e) { Console.WriteLine ("aborted {0} {1}", e.ExceptionState ?? "null", Environment.HasShutdownStarted); }
				finally { Console.WriteLine ("finally"); }
			}) { IsBackground = true };
			thread.Start ();
			ready.WaitOne ();
			break;
		}
		case "spinning":
			new Thread (() => { for (;;) ; }) { IsBackground = true }.Start ();
			break;
		case "thread":
			new Thread (() => { throw new InvalidOperationException ("in a thread"); }).Start ();
			Thread.Sleep (Timeout.Infinite);
			break;
		case "foreground":
			new Thread (() => { said.WaitOne (); Thread.Sleep (300); Console.WriteLine ("thread"); Environment.ExitCode = 4; }).Start ();
			break;
		}
		Console.WriteLine ("Main ends");
		said.Set ();
	}

	static readonly ManualResetEvent said = new ManualResetEvent (false);
}
