using System;
using System.Collections.Generic;
using System.Threading;

// Monitor.Wait, Pulse, PulseAll and the times they keep.
static class WaitPulse
{
	static void Try (string what, Action action)
	{
		try { action (); Console.WriteLine ("{0}: ok", what); }
		catch (Exception e) { Console.WriteLine ("{0}: {1}: {2}", what, e.GetType ().Name, e.Message.Split ('\n') [0]); }
	}

	static void Main ()
	{
		object gate = new object ();
		Try ("exit", () => Monitor.Exit (gate));
		Try ("pulse", () => Monitor.Pulse (gate));
		Try ("wait", () => Monitor.Wait (gate));
		Try ("null", () => Monitor.Enter (null));

		// Ping-pong: whose turn it is goes back and forth.
		int turn = 0, rounds = 0;
		Func<int, ThreadStart> player = mine => () => {
			for (int i = 0; i < 5000; i++)
				lock (gate) {
					while (turn != mine) Monitor.Wait (gate);
					rounds++;
					turn = 1 - turn;
					Monitor.Pulse (gate);
				}
		};
		var a = new Thread (player (0));
		var b = new Thread (player (1));
		a.Start ();
		b.Start ();
		a.Join ();
		b.Join ();
		Console.WriteLine ("rounds: {0}", rounds);

		// A bounded buffer, four producers and four consumers.
		var buffer = new Queue<int> ();
		long taken = 0;
		var workers = new List<Thread> ();
		for (int w = 0; w < 4; w++) {
			workers.Add (new Thread (() => {
				for (int i = 1; i <= 5000; i++)
					lock (buffer) {
						while (buffer.Count == 10) Monitor.Wait (buffer);
						buffer.Enqueue (i);
						Monitor.PulseAll (buffer);
					}
			}));
			workers.Add (new Thread (() => {
				for (int i = 1; i <= 5000; i++)
					lock (buffer) {
						while (buffer.Count == 0) Monitor.Wait (buffer);
						taken += buffer.Dequeue ();
						Monitor.PulseAll (buffer);
					}
			}));
		}
		workers.ForEach (w => w.Start ());
		workers.ForEach (w => w.Join ());
		Console.WriteLine ("taken: {0}", taken);

		// First come, first served; a recursive owner gives up and gets back all of it.
		var order = new List<int> ();
		var waiters = new List<Thread> ();
		int waiting = 0;
		for (int w = 0; w < 5; w++) {
			int n = w;
			var t = new Thread (() => {
				lock (gate) lock (gate) {
					waiting++;
					Monitor.Wait (gate);
					order.Add (n);
				}
			});
			t.Start ();
			waiters.Add (t);
			for (;;) lock (gate) if (waiting == n + 1) break; else Thread.Yield ();
		}
		for (int w = 0; w < 5; w++) {
			lock (gate) Monitor.Pulse (gate);
			waiters [w].Join ();
		}
		Console.WriteLine ("order: {0}", string.Join (" ", order));

		lock (gate) Console.WriteLine ("nobody pulses: {0} {1}", Monitor.Wait (gate, 0), Monitor.Wait (gate, 20));
		lock (gate) lock (gate) {
			Monitor.Wait (gate, 1);
			Monitor.Exit (gate);
			Console.WriteLine ("still entered: {0}", Monitor.IsEntered (gate));
			Monitor.Enter (gate);
		}
		Console.WriteLine ("left: {0}", Monitor.IsEntered (gate));

		// Trying, from another thread.
		lock (gate) {
			var t = new Thread (() => {
				var watch = System.Diagnostics.Stopwatch.StartNew ();
				Console.WriteLine ("try: {0} {1} {2}", Monitor.TryEnter (gate), Monitor.TryEnter (gate, 0), Monitor.TryEnter (gate, 50));
				Console.WriteLine ("took its time: {0}", watch.ElapsedMilliseconds >= 45);
				Try ("exit of another's", () => Monitor.Exit (gate));
				Try ("pulse of another's", () => Monitor.PulseAll (gate));
				Try ("wait at another's", () => Monitor.Wait (gate));
			});
			t.Start ();
			t.Join ();
		}
		var tries = new Thread (() => { bool got = Monitor.TryEnter (gate, 60000); Console.WriteLine ("got it in the end: {0}", got); Monitor.Exit (gate); });
		lock (gate) {
			tries.Start ();
			while (tries.ThreadState != ThreadState.WaitSleepJoin) Thread.Sleep (1);
		}
		tries.Join ();

		// An interrupted waiter owns the monitor when the exception arrives; an interrupted one who enters does not.
		var w1 = new Thread (() => Try ("interrupted wait", () => {
			lock (gate) try { Monitor.Wait (gate); } finally { Console.WriteLine ("owns it: {0}", Monitor.IsEntered (gate)); }
		}));
		w1.Start ();
		while (w1.ThreadState != ThreadState.WaitSleepJoin) Thread.Sleep (1);
		w1.Interrupt ();
		w1.Join ();
		var w2 = new Thread (() => Try ("interrupted enter", () => { lock (gate) Console.WriteLine ("entered"); }));
		lock (gate) {
			w2.Start ();
			while (w2.ThreadState != ThreadState.WaitSleepJoin) Thread.Sleep (1);
			w2.Interrupt ();
			w2.Join ();
		}
		Console.WriteLine ("free: {0}", Monitor.TryEnter (gate));
	}
}
