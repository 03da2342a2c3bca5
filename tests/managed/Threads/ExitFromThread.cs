// exit: 9
using System;
using System.Threading;

// Environment.Exit on a thread ends the process while Main waits; ProcessExit is raised there, once.
static class ExitFromThread
{
	static void Main ()
	{
		AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine ("exit on {0}", Thread.CurrentThread.Name); // expect: exit on leaver
		new Thread (() => Environment.Exit (9)) { Name = "leaver" }.Start ();
		new Thread (() => { for (;;) lock (typeof (string)) Thread.Yield (); }).Start ();
		Thread.CurrentThread.Join ();
	}
}
