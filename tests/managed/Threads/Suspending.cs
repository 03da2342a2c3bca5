using System;
using System.Threading;

// Suspend and Resume: a thread does nothing in between, wherever it was, and collections go on.
static class Suspending
{
	static volatile int count;
	static volatile bool stop;

	static void Try (string what, Action action)
	{
		try { action (); Console.WriteLine ("{0}: ok", what); }
		catch (ThreadStateException e) { Console.WriteLine ("{0}: {1}", what, e.Message); }
	}

	static void StandsStill (string what, ThreadStart body)
	{
		stop = false;
		var thread = new Thread (body);
		thread.Start ();
		int begin = count;
		while (count == begin) Thread.Yield ();
		bool still = true;
		for (int i = 0; i < 50; i++) {
			thread.Suspend ();
			while ((thread.ThreadState & ThreadState.Suspended) == 0) Thread.Yield ();
			int before = count;
			if (i % 10 == 0) GC.Collect ();
			Thread.SpinWait (10000);
			still &= before == count;
			thread.Resume ();
			while (count == before) Thread.Yield ();
		}
		stop = true;
		Console.WriteLine ("{0}: still {1}, ended {2}", what, still, thread.Join (5000));
	}

	static void Main ()
	{
		var thread = new Thread (() => Thread.Sleep (100));
		Try ("suspend unstarted", thread.Suspend);
		Try ("resume unstarted", thread.Resume);
		thread.Start ();
		Try ("resume running", thread.Resume);
		Try ("suspend", thread.Suspend);
		Try ("suspend again", thread.Suspend);
		Try ("resume", thread.Resume);
		Try ("resume again", thread.Resume);
		thread.Join ();
		Try ("suspend dead", thread.Suspend);
		Try ("resume dead", thread.Resume);

		StandsStill ("loop", () => { while (!stop) count++; });
		StandsStill ("loop in try", () => { try { while (!stop) count++; } finally { } });
		StandsStill ("floats", () => { double x = 2, y = 3; while (!stop) { x = x * 1.5 - y; y = y + x / 7; if (x > 1e9 || x < -1e9) x = 2; if (y > 1e9 || y < -1e9) y = 3; count++; } });
		StandsStill ("allocation", () => { object o = null; while (!stop) { o = new object [] { o, count }; if (count % 16 == 0) o = null; count++; } });
		StandsStill ("waits", () => { while (!stop) { Thread.Sleep (1); count++; } });

		// A thread that suspends itself.
		var self = new Thread (() => { Thread.CurrentThread.Suspend (); Console.WriteLine ("goes on"); });
		self.Start ();
		while ((self.ThreadState & ThreadState.Suspended) == 0) Thread.Yield ();
		Console.WriteLine (self.ThreadState);
		self.Resume ();
		self.Join ();

		// A suspended thread is aborted at once.
		var doomed = new Thread (() => { for (;;) ; });
		doomed.Start ();
		doomed.Suspend ();
		while ((doomed.ThreadState & ThreadState.Suspended) == 0) Thread.Yield ();
		doomed.Abort ();
		Console.WriteLine ("ended: {0}", doomed.Join (5000));
		Try ("resume", doomed.Resume);
	}
}
