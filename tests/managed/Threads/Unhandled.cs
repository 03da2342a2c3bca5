// exit: 1
using System;
using System.Threading;

// An exception that nobody catches in a thread ends the process at once, whatever Main is doing.
static class Unhandled
{
	static void Main ()
	{
		AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine ("not raised");
		AppDomain.CurrentDomain.UnhandledException += (s, e) => // expect: InvalidOperationException True out
			Console.WriteLine ("{0} {1} {2}", e.ExceptionObject.GetType ().Name, e.IsTerminating, Thread.CurrentThread.Name);
		var t = new Thread (() => { try { throw new InvalidOperationException (); } finally { Thread.Sleep (1); } }) { Name = "out" };
		t.Start ();
		t.Join ();
		Thread.Sleep (Timeout.Infinite);
		Console.WriteLine ("not reached");
	}
}
