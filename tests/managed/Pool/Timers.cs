using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// Timers: one shot, periodic, changed, disposed with a handle, many, none before its time.
static class Timers
{
	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }

	static void Main ()
	{
		var called = new AutoResetEvent (false);
		bool ofPool = false;
		object state = null;
		using (new Timer (s => { state = s; ofPool = Thread.CurrentThread.IsThreadPoolThread; called.Set (); }, "once", 10, -1)) {
			Say ("once", called.WaitOne (20000) + " " + state + " " + ofPool);
			Say ("not twice", called.WaitOne (50));
		}
		int ticks = 0;
		var periodic = new Timer (_ => { if (Interlocked.Increment (ref ticks) == 5) called.Set (); }, null, 0, 5);
		Say ("periodic", called.WaitOne (20000));
		using (var gone = new ManualResetEvent (false)) {
			Say ("disposed", periodic.Dispose (gone));
			Say ("signalled", gone.WaitOne (20000));
		}
		var sleeping = new Timer (_ => called.Set (), null, -1, -1);
		Say ("not armed", called.WaitOne (30));
		Say ("armed", sleeping.Change (5, -1) + " " + called.WaitOne (20000));
		sleeping.Change (60000, -1);
		Say ("moved back", called.WaitOne (30));
		sleeping.Dispose ();
		// As mono: false from a timer that is gone, and no exception.
		try { Say ("changed when gone", sleeping.Change (1, 1)); } catch (Exception e) { Say ("changed when gone", e.GetType ().Name); }
		try { new Timer (null, null, 0, 0); } catch (Exception e) { Say ("no callback", e.GetType ().Name); }
		try { new Timer (_ => { }, null, -2, 0); } catch (Exception e) { Say ("bad time", e.GetType ().Name); }

		int early = 0;
		var clock = System.Diagnostics.Stopwatch.StartNew ();
		using (var all = new CountdownEvent (5)) {
			var some = new [] { 120, 40, 200, 80, 160 }.Select (ms => new Timer (_ => { if (clock.ElapsedMilliseconds < ms - 1) early++; all.Signal (); }, null, ms, -1)).ToArray ();
			Say ("all", all.Wait (20000));
			GC.KeepAlive (some);
		}
		Say ("early", early);

		using (var all = new CountdownEvent (5000)) {
			var many = Enumerable.Range (0, 5000).Select (i => new Timer (_ => all.Signal (), null, i % 50, -1)).ToArray ();
			Say ("many", all.Wait (20000));
			GC.KeepAlive (many);
		}
		Task.WaitAll (Enumerable.Range (0, 1000).Select (i => Task.Delay (i % 40)).ToArray ());
		Say ("delays", "over");

		var timer = new System.Timers.Timer (5) { AutoReset = false };
		timer.Elapsed += (s, e) => called.Set ();
		timer.Start ();
		Say ("component", called.WaitOne (20000));
	}
}
