// gc-debug: no, it measures memory
using System;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// Tasks, timers, registered waits, asynchronous calls and threads leave memory and descriptors where they were. An
// argument multiplies the numbers (50 gives a million tasks and 20,000 threads), and says what was measured.
static class Leaks
{
	static int times = 1;
	static bool told;

	static long Resident ()
	{
		for (int i = 0; i < 3; i++) {
			GC.Collect ();
			GC.WaitForPendingFinalizers ();
		}
		var line = File.ReadLines ("/proc/self/status").First (l => l.StartsWith ("VmRSS:"));
		return long.Parse (new string (line.Where (char.IsDigit).ToArray ()));
	}
	static int Descriptors () { return Directory.GetFiles ("/proc/self/fd").Length; }
	static int Threads () { return Directory.GetDirectories ("/proc/self/task").Length; }

	/// Runs the work until memory has settled, then as often as asked, and compares.
	static void Measure (string what, Action work)
	{
		for (int i = 0; i < 2; i++)
			work ();
		long memory = Resident ();
		int descriptors = Descriptors ();
		for (int i = 0; i < 2 * times; i++)
			work ();
		long grown = Resident () - memory;
		// Idle workers may come and go; nothing else has a reason to.
		Console.WriteLine ("{0}: {1} {2}", what, grown < 16000 ? "memory" : grown + " KiB more", Descriptors () - descriptors);
		if (told)
			Console.WriteLine ("  {0} KiB, then {1} more; {2} threads", memory, grown, Threads ());
	}

	static void Main (string [] args)
	{
		if (args.Length > 0) {
			told = true;
			times = int.Parse (args [0]);
		}
		int count = 0;
		Measure ("tasks", () => Task.WaitAll (Enumerable.Range (0, 10000).Select (i => Task.Run (() => Interlocked.Increment (ref count))).ToArray ()));
		Measure ("continuations", () => {
			var t = Task.Run (() => 0);
			for (int i = 0; i < 2000; i++)
				t = t.ContinueWith (x => x.Result + 1);
			t.Wait ();
		});
		Measure ("timers", () => {
			for (int i = 0; i < 5000; i++)
				new Timer (_ => { }, null, 100000, 100000).Dispose ();
		});
		Measure ("timers that fire", () => {
			using (var all = new CountdownEvent (500)) {
				for (int i = 0; i < 500; i++)
					new Timer (_ => all.Signal (), null, 1, -1);
				all.Wait ();
			}
		});
		Measure ("delays given up", () => {
			using (var stop = new CancellationTokenSource ()) {
				var all = Enumerable.Range (0, 1000).Select (_ => Task.Delay (100000, stop.Token)).ToArray ();
				stop.Cancel ();
				Task.WhenAll (all).ContinueWith (_ => { }).Wait ();
			}
		});
		Measure ("asynchronous calls", () => {
			Func<int, int> f = x => x;
			var all = Enumerable.Range (0, 1000).Select (i => f.BeginInvoke (i, null, null)).ToArray ();
			foreach (var a in all)
				f.EndInvoke (a);
		});
		Measure ("registered waits", () => {
			using (var set = new ManualResetEvent (true)) using (var all = new CountdownEvent (20)) {
				for (int i = 0; i < 20; i++)
					ThreadPool.RegisterWaitForSingleObject (set, (s, t) => all.Signal (), null, -1, true);
				all.Wait ();
			}
		});
		Measure ("threads", () => {
			for (int k = 0; k < 10; k++) {
				var some = Enumerable.Range (0, 20).Select (_ => new Thread (() => Interlocked.Increment (ref count))).ToArray ();
				foreach (var t in some) t.Start ();
				foreach (var t in some) t.Join ();
			}
		});
		Measure ("handles", () => {
			for (int i = 0; i < 5000; i++)
				using (var e = new AutoResetEvent (false)) using (new Mutex ()) using (new Semaphore (1, 1))
					e.Set ();
		});
	}
}
