using System;
using System.Collections.Generic;
using System.Threading;

// Locks, interlocked operations and volatile flags with eight threads at once.
static class Locks
{
	const int Threads = 8, Turns = 50000;
	static readonly object plain = new object (), hashed = new object ();
	static int counter, under_hash, interlocked;
	static long sum;
	static double real;
	static object head;
	static SpinLock spin = new SpinLock (false);
	static int spun;

	class Node { public Node Next; }

	static void All (Action<int> work)
	{
		var threads = new Thread [Threads];
		for (int i = 0; i < Threads; i++) {
			int n = i;
			threads [i] = new Thread (() => work (n));
			threads [i].Start ();
		}
		foreach (var t in threads) t.Join ();
	}

	static void Nested (int depth)
	{
		lock (plain) {
			if (depth > 0) Nested (depth - 1);
			else counter++;
		}
	}

	static void Main ()
	{
		All (n => { for (int i = 0; i < Turns; i++) lock (plain) counter++; });
		Console.WriteLine ("lock: {0}", counter);

		int hash = hashed.GetHashCode ();
		All (n => {
			for (int i = 0; i < Turns; i++)
				lock (hashed) {
					under_hash++;
					if (hashed.GetHashCode () != hash) Console.WriteLine ("another hash");
				}
		});
		Console.WriteLine ("with a hash: {0} {1}", under_hash, hash == hashed.GetHashCode ());

		counter = 0;
		All (n => { for (int i = 0; i < 200; i++) Nested (300); });
		Console.WriteLine ("entered 301 times over: {0}", counter);

		All (n => {
			for (int i = 0; i < Turns; i++) {
				Interlocked.Increment (ref interlocked);
				Interlocked.Add (ref sum, n);
				double seen;
				do seen = real; while (Interlocked.CompareExchange (ref real, seen + 0.5, seen) != seen);
			}
		});
		Console.WriteLine ("interlocked: {0} {1} {2}", interlocked, sum, real);

		All (n => {
			for (int i = 0; i < 5000; i++) {
				var node = new Node ();
				object seen;
				do { seen = head; node.Next = (Node) seen; } while (Interlocked.CompareExchange (ref head, node, seen) != seen);
			}
		});
		int length = 0;
		for (var n = (Node) head; n != null; n = n.Next) length++;
		Console.WriteLine ("stack: {0}", length);

		All (n => {
			for (int i = 0; i < 5000; i++) {
				bool taken = false;
				try { spin.Enter (ref taken); spun++; } finally { if (taken) spin.Exit (); }
			}
		});
		Console.WriteLine ("spin lock: {0}", spun);

		// Many objects, each thin most of the time, taken in order.
		var cells = new object [100];
		var values = new int [100];
		for (int i = 0; i < cells.Length; i++) cells [i] = new object ();
		All (n => {
			var random = new Random (n);
			for (int i = 0; i < Turns; i++) {
				int a = random.Next (100), b = random.Next (100);
				lock (cells [Math.Min (a, b)]) lock (cells [Math.Max (a, b)]) { values [a]++; values [b]--; }
			}
		});
		int total = 0;
		foreach (int v in values) total += v;
		Console.WriteLine ("cells: {0}", total);

		var hashes = new HashSet<int> [Threads];
		var shared = new object ();
		All (n => { hashes [n] = new HashSet<int> (); for (int i = 0; i < 1000; i++) lock (shared) hashes [n].Add (shared.GetHashCode ()); });
		var all = new HashSet<int> ();
		foreach (var h in hashes) all.UnionWith (h);
		Console.WriteLine ("hashes: {0}", all.Count);
	}
}
