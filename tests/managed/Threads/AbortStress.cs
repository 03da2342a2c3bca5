using System;
using System.Threading;

// Aborts that come at any instruction: what a lock, a finally and lockTaken promise holds all the same.
static class AbortStress
{
	class Counter { public int entered, left, inside; public object next; }
	static readonly object gate = new object ();
	static readonly Counter counter = new Counter ();
	static int taken, given, wrong;

	static void Body ()
	{
		for (int i = 0;; i++) {
			lock (gate) {
				if (counter.inside != 0) Interlocked.Increment (ref wrong);
				counter.inside = 1;
				try { counter.entered++; counter.next = new object [i % 5]; }
				finally { counter.left++; counter.inside = 0; }
			}
			bool mine = false;
			try {
				Monitor.Enter (counter, ref mine);
			} finally {
				if (mine) { taken++; Monitor.Exit (counter); Interlocked.Increment (ref given); }
			}
			Small (i);
		}
	}
	static int Small (int i)
	{
		int sum = 0;
		for (int j = 0; j < i % 50; j++) sum += j * i;
		return sum;
	}

	static void Main ()
	{
		for (int round = 0; round < 200; round++) {
			var pair = new Thread [2];
			var ready = new CountdownEvent (2);
			for (int n = 0; n < 2; n++) {
				pair [n] = new Thread (() => { ready.Signal (); Body (); });
				pair [n].Start ();
			}
			ready.Wait ();
			if (round % 3 == 0) Thread.Sleep (1);
			else Thread.SpinWait (round * 20);
			if (round % 20 == 0) GC.Collect (0);
			foreach (var t in pair) t.Abort ();
			foreach (var t in pair) if (!t.Join (20000)) { Console.WriteLine ("does not end"); Environment.Exit (1); }
			if (!Monitor.TryEnter (gate, 10000)) { Console.WriteLine ("the gate is locked in round {0}", round); Environment.Exit (1); }
			Monitor.Exit (gate);
			if (!Monitor.TryEnter (counter, 10000)) { Console.WriteLine ("the counter is locked in round {0}", round); Environment.Exit (1); }
			Monitor.Exit (counter);
		}
		Console.WriteLine ("wrong {0}, left {1}, given {2}", wrong, counter.left - counter.entered <= 0, taken == given); // expect: wrong 0, left True, given True
	}
}
