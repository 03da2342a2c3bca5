using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// The class library's own primitives and collections, used by several threads at once.
static class Primitives
{
	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }
	static string Caught (Action a)
	{
		try { a (); return "nothing"; }
		catch (Exception e) { return e.GetType ().Name; }
	}
	static void Together (int threads, Action<int> work)
	{
		var all = Enumerable.Range (0, threads).Select (i => new Thread (() => work (i))).ToArray ();
		foreach (var t in all) t.Start ();
		foreach (var t in all) t.Join ();
	}

	static void Main ()
	{
		// Blocking collection: bounded, completed, taken from any.
		using (var box = new BlockingCollection<int> (8)) {
			long sum = 0;
			var takers = Enumerable.Range (0, 3).Select (_ => Task.Run (() => { foreach (var i in box.GetConsumingEnumerable ()) Interlocked.Add (ref sum, i); })).ToArray ();
			Together (3, n => { for (int i = 0; i < 2000; i++) box.Add (i); });
			box.CompleteAdding ();
			Task.WaitAll (takers);
			Say ("collection", sum + " " + box.IsCompleted + " " + Caught (() => box.Add (1)) + " " + Caught (() => box.Take ()));
		}
		using (var one = new BlockingCollection<string> ()) using (var two = new BlockingCollection<string> ()) {
			two.Add ("two");
			string got;
			Say ("take from any", BlockingCollection<string>.TakeFromAny (new [] { one, two }, out got) + " " + got);
			Say ("nothing there", one.TryTake (out got, 10));
			var stop = new CancellationTokenSource (20);
			Say ("cancelled", Caught (() => one.Take (stop.Token)));
		}

		var dictionary = new ConcurrentDictionary<int, int> ();
		Together (4, n => { for (int i = 0; i < 5000; i++) dictionary.AddOrUpdate (i % 100, 1, (k, v) => v + 1); });
		Say ("dictionary", dictionary.Count + " " + dictionary.Values.Sum () + " " + dictionary.GetOrAdd (1000, k => k));
		var queue = new ConcurrentQueue<int> ();
		var stack = new ConcurrentStack<int> ();
		var bag = new ConcurrentBag<int> ();
		long queued = 0, stacked = 0, bagged = 0;
		Together (4, n => {
			for (int i = 1; i <= 3000; i++) {
				int got;
				queue.Enqueue (i); stack.Push (i); bag.Add (i);
				if (queue.TryDequeue (out got)) Interlocked.Add (ref queued, got);
				if (stack.TryPop (out got)) Interlocked.Add (ref stacked, got);
				if (bag.TryTake (out got)) Interlocked.Add (ref bagged, got);
			}
		});
		Say ("queue, stack, bag", (queued + queue.Sum ()) + " " + (stacked + stack.Sum ()) + " " + (bagged + bag.Sum ()));

		int made = 0;
		var lazy = new Lazy<int> (() => { Thread.Sleep (10); return Interlocked.Increment (ref made); });
		Together (4, n => { var v = lazy.Value; });
		Say ("lazy", lazy.Value + " " + made);
		var bad = new Lazy<int> (() => { made++; throw new FormatException (); });
		Say ("lazy fault", Caught (() => { var v = bad.Value; }) + " " + Caught (() => { var v = bad.Value; }) + " " + made);

		int shared = 0, wrong = 0;
		using (var slim = new ReaderWriterLockSlim ()) {
			Together (4, n => {
				for (int i = 0; i < 1000; i++)
					if ((i + n) % 4 == 0) {
						slim.EnterWriteLock ();
						shared++; if (shared % 2 != 1) wrong++; shared++;
						slim.ExitWriteLock ();
					} else if (i % 10 == 1) {
						slim.EnterUpgradeableReadLock ();
						slim.EnterWriteLock ();
						shared += 2;
						slim.ExitWriteLock ();
						slim.ExitUpgradeableReadLock ();
					} else {
						slim.EnterReadLock ();
						if (shared % 2 != 0) Interlocked.Increment (ref wrong);
						slim.ExitReadLock ();
					}
			});
			Say ("slim lock", wrong + " " + (shared % 2) + " " + Caught (() => slim.ExitReadLock ()) + " " + Caught (() => { slim.EnterReadLock (); slim.EnterWriteLock (); }));
			slim.ExitReadLock ();
		}
		var old = new ReaderWriterLock ();
		shared = wrong = 0;
		Together (4, n => {
			for (int i = 0; i < 500; i++)
				if ((i + n) % 4 == 0) {
					old.AcquireWriterLock (-1);
					shared++; if (shared % 2 != 1) wrong++; shared++;
					old.ReleaseWriterLock ();
				} else {
					old.AcquireReaderLock (-1);
					if (shared % 2 != 0) Interlocked.Increment (ref wrong);
					if (i % 50 == 0) { var c = old.UpgradeToWriterLock (-1); shared += 2; old.DowngradeFromWriterLock (ref c); }
					old.ReleaseReaderLock ();
				}
		});
		Say ("lock", wrong + " " + Caught (() => old.ReleaseReaderLock ()));

		int phases = 0;
		using (var barrier = new Barrier (4, b => phases++)) {
			Together (4, n => { for (int i = 0; i < 100; i++) barrier.SignalAndWait (); });
			Say ("barrier", phases + " " + barrier.CurrentPhaseNumber);
		}
		using (var barrier = new Barrier (1, b => { throw new FormatException (); }))
			Say ("barrier fault", Caught (() => barrier.SignalAndWait ()));
		using (var down = new CountdownEvent (4)) {
			Together (4, n => { down.AddCount (); down.Signal (); down.Signal (); });
			Say ("countdown", down.IsSet + " " + Caught (() => down.Signal ()) + " " + Caught (() => down.AddCount ()));
		}
		int inside = 0, most = 0;
		using (var slim = new SemaphoreSlim (2, 2)) {
			Together (6, n => {
				for (int i = 0; i < 50; i++) {
					slim.Wait ();
					int now = Interlocked.Increment (ref inside), seen;
					while (now > (seen = most)) Interlocked.CompareExchange (ref most, now, seen);
					Interlocked.Decrement (ref inside);
					slim.Release ();
				}
			});
			Say ("semaphore", (most <= 2) + " " + slim.CurrentCount + " " + Caught (() => slim.Release ()));
			slim.Wait (); slim.Wait ();
			var pending = slim.WaitAsync ();
			Say ("semaphore, async", pending.IsCompleted + " " + slim.WaitAsync (10).Result + " " + slim.Wait (10));
			slim.Release ();
			Say ("released", pending.Wait (20000));
		}
		using (var local = new ThreadLocal<int> (() => Thread.CurrentThread.ManagedThreadId, true)) {
			int same = 0;
			Together (4, n => { if (local.Value == Thread.CurrentThread.ManagedThreadId) Interlocked.Increment (ref same); });
			Say ("thread local", same + " " + local.Values.Count);
		}
		using (var set = new ManualResetEventSlim ()) {
			var waits = Task.WhenAll (Enumerable.Range (0, 3).Select (_ => Task.Run (() => set.Wait (20000))));
			Thread.Sleep (20);
			set.Set ();
			Say ("slim event", waits.Result.All (x => x));
		}
		var spin = new SpinLock (true);
		shared = 0;
		Together (3, n => {
			for (int i = 0; i < 2000; i++) {
				bool taken = false;
				try { spin.Enter (ref taken); shared++; }
				finally { if (taken) spin.Exit (); }
			}
		});
		Say ("spin lock", shared + " " + Caught (() => spin.Exit ()));
		bool flag = false;
		var setter = Task.Run (() => Volatile.Write (ref flag, true));
		Say ("spin until", SpinWait.SpinUntil (() => Volatile.Read (ref flag), 20000));
	}
}
