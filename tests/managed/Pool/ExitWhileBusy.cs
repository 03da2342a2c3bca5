// exit: 3
using System;
using System.Threading;
using System.Threading.Tasks;

// Workers do not keep the process alive, whatever they do; the pool still works for handlers of ProcessExit.
static class ExitWhileBusy
{
	static int Main ()
	{
		AppDomain.CurrentDomain.ProcessExit += (s, e) => {
			Console.WriteLine (Task.Run (() => 42).Result); // expect: 42
			using (var t = new ManualResetEvent (false)) using (new Timer (_ => t.Set (), null, 5, -1))
				Console.WriteLine (t.WaitOne (20000)); // expect: True
		};
		ThreadPool.QueueUserWorkItem (_ => Thread.Sleep (Timeout.Infinite));
		for (int i = 0; i < 2; i++)
			ThreadPool.QueueUserWorkItem (_ => { while (true) ThreadPool.QueueUserWorkItem (x => { }); });
		new Thread (() => { while (true) GC.KeepAlive (new object ()); }) { IsBackground = true }.Start ();
		new Thread (() => Thread.Sleep (50)).Start ();
		return 3;
	}
}
