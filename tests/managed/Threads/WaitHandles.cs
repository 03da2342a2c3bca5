using System;
using System.Threading;

// Events, mutexes and semaphores between threads.
static class WaitHandles
{
	static void Try (string what, Action action)
	{
		try { action (); Console.WriteLine ("{0}: ok", what); }
		catch (Exception e) { Console.WriteLine ("{0}: {1}", what, e.GetType ().Name); }
	}
	static Thread Start (ThreadStart what) { var t = new Thread (what); t.Start (); return t; }
	static void Until (Thread t, ThreadState state) { while (t.ThreadState != state) Thread.Sleep (1); }

	static void Main ()
	{
		var manual = new ManualResetEvent (false);
		var auto = new AutoResetEvent (true);
		Console.WriteLine ("{0} {1} {2}", manual.WaitOne (0), auto.WaitOne (0), auto.WaitOne (10));

		// Ping-pong of two auto-reset events.
		var ping = new AutoResetEvent (false);
		var pong = new AutoResetEvent (false);
		int n = 0;
		var t = Start (() => { for (int i = 0; i < 3000; i++) { ping.WaitOne (); n++; pong.Set (); } });
		for (int i = 0; i < 3000; i++) { ping.Set (); pong.WaitOne (); n++; }
		t.Join ();
		Console.WriteLine ("rounds: {0}", n);

		// An auto-reset event lets one go at a time, a manual one everybody.
		int passed = 0;
		var all = new Thread [4];
		for (int i = 0; i < 4; i++) all [i] = Start (() => { auto.WaitOne (); Interlocked.Increment (ref passed); });
		foreach (var w in all) Until (w, ThreadState.WaitSleepJoin);
		auto.Set ();
		while (passed != 1) Thread.Yield ();
		Thread.Sleep (20);
		Console.WriteLine ("one passed: {0}", passed);
		for (int i = 2; i <= 4; i++) { auto.Set (); while (passed != i) Thread.Yield (); }
		foreach (var w in all) w.Join ();
		for (int i = 0; i < 4; i++) all [i] = Start (() => { manual.WaitOne (); Interlocked.Increment (ref passed); });
		manual.Set ();
		foreach (var w in all) w.Join ();
		Console.WriteLine ("all passed: {0} {1}", passed, manual.WaitOne (0));
		manual.Reset ();

		// Any and all.
		var handles = new WaitHandle [] { manual, auto, new Semaphore (2, 3) };
		Console.WriteLine ("any: {0} {1} {2}", WaitHandle.WaitAny (handles), WaitHandle.WaitAny (handles, 0), WaitHandle.WaitAny (handles, 5) == WaitHandle.WaitTimeout);
		var waits = Start (() => { WaitHandle.WaitAll (handles); Console.WriteLine ("all came"); });
		Until (waits, ThreadState.WaitSleepJoin);
		auto.Set ();
		((Semaphore) handles [2]).Release ();
		Thread.Sleep (10);
		Console.WriteLine ("not yet: {0}", waits.IsAlive);
		manual.Set ();
		waits.Join ();
		Console.WriteLine ("taken: {0} {1} {2}", manual.WaitOne (0), auto.WaitOne (0), handles [2].WaitOne (0));

		// Mutexes: recursive, owned by a thread, abandoned by one that ends.
		var mutex = new Mutex (true);
		mutex.WaitOne ();
		Start (() => { Console.WriteLine ("another's: {0}", mutex.WaitOne (5)); Try ("release of another's", mutex.ReleaseMutex); }).Join ();
		mutex.ReleaseMutex ();
		mutex.ReleaseMutex ();
		Try ("once too often", mutex.ReleaseMutex);
		Start (() => mutex.WaitOne ()).Join ();
		Try ("abandoned", () => mutex.WaitOne ());
		mutex.ReleaseMutex ();
		int counter = 0;
		for (int i = 0; i < 4; i++) all [i] = Start (() => { for (int k = 0; k < 500; k++) { mutex.WaitOne (); counter++; mutex.ReleaseMutex (); } });
		foreach (var w in all) w.Join ();
		Console.WriteLine ("under the mutex: {0}", counter);

		var semaphore = new Semaphore (0, 2);
		Try ("too many", () => semaphore.Release (3));
		Console.WriteLine ("released: {0} {1}", semaphore.Release (), semaphore.Release ());
		Console.WriteLine ("signal and wait: {0}", WaitHandle.SignalAndWait (auto, semaphore));
		Console.WriteLine ("{0} {1}", auto.WaitOne (0), semaphore.WaitOne (0));

		// What the class library builds on all of this.
		var slim = new ManualResetEventSlim ();
		var count = new CountdownEvent (3);
		var barrier = new Barrier (3);
		var rw = new ReaderWriterLockSlim ();
		int guarded = 0;
		for (int i = 0; i < 3; i++) all [i] = Start (() => {
			slim.Wait ();
			barrier.SignalAndWait ();
			for (int k = 0; k < 1000; k++) { rw.EnterWriteLock (); guarded++; rw.ExitWriteLock (); }
			count.Signal ();
		});
		slim.Set ();
		count.Wait ();
		Console.WriteLine ("guarded: {0}", guarded);
	}
}
