using System;
using System.Threading;

// What programs may rely on of memory: message passing by volatile, store buffering with barriers, publication of objects, atomicity.
static class Litmus
{
	// As many as there is time for: where others want the processors too, each round waits for two ticks of the scheduler.
	const int Rounds = 20000, Milliseconds = 3000;
	static int rounds;
	static int x, y, seenX, seenY;
	static volatile int flag;
	static int plain;
	class Box { public int a = 1; public readonly int [] array = { 1, 2, 3 }; }
	static Box box;
	static long wide;

	// Two threads, round by round, each round begun by both at once.
	static int Together (Action reset, Action first, Action second, Func<bool> forbidden)
	{
		int seen = 0, arrived = 0, round = 0;
		rounds = Rounds;
		var clock = System.Diagnostics.Stopwatch.StartNew ();
		ParameterizedThreadStart run = half => {
			for (int i = 1; i <= Volatile.Read (ref rounds); i++) {
				if (Interlocked.Increment (ref arrived) == 2 * i) {
					if (i > 1 && forbidden ()) seen++;
					reset ();
					if (clock.ElapsedMilliseconds > Milliseconds) rounds = i;
					Volatile.Write (ref round, i);
				} else {
					int turns = 0;
					while (Volatile.Read (ref round) != i) if (++turns % 200 == 0) Thread.Yield ();
				}
				((Action) half) ();
			}
		};
		var a = new Thread (run);
		var b = new Thread (run);
		a.Start (first);
		b.Start (second);
		a.Join ();
		b.Join ();
		return seen;
	}

	static void Main ()
	{
		Console.WriteLine ("store buffering, barriers: {0}", Together (() => { x = y = 0; seenX = seenY = 1; }, // expect: store buffering, barriers: 0
			() => { x = 1; Thread.MemoryBarrier (); seenY = y; }, () => { y = 1; Thread.MemoryBarrier (); seenX = x; }, () => seenX == 0 && seenY == 0));
		Console.WriteLine ("store buffering, interlocked: {0}", Together (() => { x = y = 0; seenX = seenY = 1; }, // expect: store buffering, interlocked: 0
			() => { Interlocked.Exchange (ref x, 1); seenY = Volatile.Read (ref y); }, () => { Interlocked.Exchange (ref y, 1); seenX = Volatile.Read (ref x); }, () => seenX == 0 && seenY == 0));
		Console.WriteLine ("message passing, volatile: {0}", Together (() => { plain = flag = 0; seenX = 1; }, // expect: message passing, volatile: 0
			() => { plain = 1; flag = 1; }, () => { if (flag == 1) seenX = plain; }, () => seenX == 0));
		Console.WriteLine ("message passing, Volatile: {0}", Together (() => { x = y = 0; seenX = 1; }, // expect: message passing, Volatile: 0
			() => { x = 1; Volatile.Write (ref y, 1); }, () => { if (Volatile.Read (ref y) == 1) seenX = x; }, () => seenX == 0));
		Console.WriteLine ("publication: {0}", Together (() => { box = null; seenX = 1; seenY = 3; }, // expect: publication: 0
			() => box = new Box (), () => { var b = box; if (b != null) { seenX = b.a; seenY = b.array [2]; } }, () => seenX != 1 || seenY != 3));
		Console.WriteLine ("load buffering: {0}", Together (() => { x = y = seenX = seenY = 0; }, // expect: load buffering: 0
			() => { seenX = Volatile.Read (ref x); Volatile.Write (ref y, 1); }, () => { seenY = Volatile.Read (ref y); Volatile.Write (ref x, 1); }, () => seenX == 1 && seenY == 1));
		Console.WriteLine ("wide words: {0}", Together (() => seenX = 0, // expect: wide words: 0
			() => { for (int i = 0; i < 10; i++) Interlocked.Exchange (ref wide, i % 2 == 0 ? -1L : 0L); },
			() => { for (int i = 0; i < 10; i++) { long w = Interlocked.Read (ref wide); if (w != 0 && w != -1) seenX = 1; } }, () => seenX == 1));
		x = 0;
		Together (() => { }, () => Interlocked.Increment (ref x), () => Interlocked.Add (ref x, 2), () => false);
		Console.WriteLine ("counted: {0}", x == 3 * rounds); // expect: counted: True
		x = 0;
		Together (() => { }, () => { int v; do v = x; while (Interlocked.CompareExchange (ref x, v + 1, v) != v); }, () => { lock (typeof (Litmus)) Interlocked.Increment (ref x); }, () => false);
		Console.WriteLine ("exchanged: {0}", x == 2 * rounds); // expect: exchanged: True
	}
}
