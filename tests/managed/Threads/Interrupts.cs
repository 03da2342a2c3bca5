using System;
using System.Threading;

// Thread.Interrupt: it ends the wait, or the next one, and is forgotten then.
static class Interrupts
{
	static void Try (string what, Action wait, Action meanwhile = null)
	{
		string caught = "nothing";
		// (Not an event: the thread may wait for the lock of an event that it sets, and would be interrupted there.)
		bool ready = false;
		var thread = new Thread (() => {
			Volatile.Write (ref ready, true);
			try { wait (); }
			catch (ThreadInterruptedException e) { caught = e.Message; }
			Thread.Sleep (1);
		});
		thread.Start ();
		while (!Volatile.Read (ref ready)) Thread.Yield ();
		while ((thread.ThreadState & ThreadState.WaitSleepJoin) == 0 && thread.IsAlive) Thread.Yield ();
		thread.Interrupt ();
		Console.WriteLine ("{0}: ended {1}, {2}", what, thread.Join (5000), caught);
	}

	static void Main ()
	{
		object gate = new object ();
		var never = new ManualResetEvent (false);
		var other = new AutoResetEvent (false);
		var sleeper = new Thread (() => Thread.Sleep (Timeout.Infinite)) { IsBackground = true };
		sleeper.Start ();
		Try ("sleep", () => Thread.Sleep (Timeout.Infinite));
		Try ("event", () => never.WaitOne ());
		Try ("timed event", () => never.WaitOne (5000));
		Try ("any", () => WaitHandle.WaitAny (new WaitHandle [] { never, other }));
		Try ("all", () => WaitHandle.WaitAll (new WaitHandle [] { never, other }));
		Try ("signal and wait", () => WaitHandle.SignalAndWait (other, never));
		Console.WriteLine ("signalled: {0}", other.WaitOne (0));
		Try ("mutex", () => { var m = new Mutex (); var t = new Thread (() => { m.WaitOne (); Thread.Sleep (Timeout.Infinite); }) { IsBackground = true }; t.Start (); while (m.WaitOne (0)) { m.ReleaseMutex (); Thread.Yield (); } m.WaitOne (); });
		Try ("semaphore", () => new Semaphore (0, 1).WaitOne ());
		Try ("join", () => sleeper.Join ());
		Try ("wait", () => { lock (gate) Monitor.Wait (gate); });
		Try ("timed wait", () => { lock (gate) Monitor.Wait (gate, 5000); });
		Monitor.Enter (gate);
		Try ("enter", () => { lock (gate) { } });
		Try ("timed enter", () => Monitor.TryEnter (gate, 5000));
		Monitor.Exit (gate);
		Try ("slim semaphore", () => new SemaphoreSlim (0).Wait ());
		Try ("slim event", () => new ManualResetEventSlim ().Wait ());
		Try ("barrier", () => new Barrier (2).SignalAndWait ());

		// Before the wait: it comes with the wait, and only once.
		int caught = 0, went = 0;
		var early = new Thread (() => {
			for (int i = 0; i < 3; i++)
				try { Thread.Sleep (1); went++; } catch (ThreadInterruptedException) { caught++; }
		});
		early.Interrupt ();
		early.Interrupt ();
		early.Start ();
		early.Join ();
		Console.WriteLine ("early: {0} {1}", caught, went);

		// An uncontended lock and a signalled event do not ask; a finally is no shelter.
		string said = "";
		var self = new Thread (() => {
			Thread.CurrentThread.Interrupt ();
			lock (gate) said += "locked ";
			try { } finally {
				try { Thread.Sleep (10); said += "slept "; } catch (ThreadInterruptedException) { said += "interrupted"; }
			}
		});
		self.Start ();
		self.Join ();
		Console.WriteLine (said);

		// Nothing is lost: a semaphore's counts go to those that are not interrupted. (Mono loses some.)
		var counted = new Semaphore (0, 1000);
		int got = 0, lost = 0;
		var all = new Thread [8];
		for (int n = 0; n < all.Length; n++) {
			all [n] = new Thread (() => {
				for (int i = 0; i < 200; i++)
					try { counted.WaitOne (); Interlocked.Increment (ref got); }
					catch (ThreadInterruptedException) { Interlocked.Increment (ref lost); i--; }
			});
			all [n].Start ();
		}
		for (int i = 0; i < 1600; i++) {
			counted.Release ();
			all [i % 8].Interrupt ();
			if (i % 50 == 0) Thread.Sleep (1);
		}
		bool ended = true;
		foreach (var t in all) ended &= t.Join (10000);
		Console.WriteLine ("counted: {0} {1}", ended, got);
	}
}
