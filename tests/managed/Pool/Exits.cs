// exit: 255
using System;
using System.Threading;

// An exception that leaves a callback of the pool ends the process with code 255; ProcessExit is not raised.
static class Exits
{
	static void Main ()
	{
		AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine ("not raised");
		AppDomain.CurrentDomain.UnhandledException += (s, e) => // expect: InvalidOperationException True True
			Console.WriteLine ("{0} {1} {2}", e.ExceptionObject.GetType ().Name, e.IsTerminating, Thread.CurrentThread.IsThreadPoolThread);
		ThreadPool.QueueUserWorkItem (_ => { throw new InvalidOperationException (); });
		Thread.Sleep (Timeout.Infinite);
	}
}
