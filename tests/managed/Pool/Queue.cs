using System;
using System.Collections.Generic;
using System.Threading;

// The pool's workers: what a callback sees of its thread and what of it is put back, limits, many items, items that queue
// items, items that block, registered waits.
static class Queue
{
	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }

	static void Run (Action work)
	{
		using (var done = new ManualResetEvent (false)) {
			ThreadPool.QueueUserWorkItem (_ => {
				try { work (); }
				catch (Exception e) { Console.WriteLine ("{0}: {1}", e.GetType ().Name, e.Message); }
				done.Set ();
			});
			done.WaitOne ();
		}
	}

	static void Describe ()
	{
		var t = Thread.CurrentThread;
		Console.WriteLine ("{0}, background {1}, of the pool {2}, {3}, {4}, {5}", t.Name, t.IsBackground,
			t.IsThreadPoolThread, t.Priority, t.GetApartmentState (), t.ThreadState);
	}

	static void Main ()
	{
		int a, b, cpus = Environment.ProcessorCount;
		ThreadPool.GetMinThreads (out a, out b);
		Say ("minimum", a == cpus && b == cpus);
		ThreadPool.GetMaxThreads (out a, out b);
		Say ("maximum", a == 100 * cpus);
		ThreadPool.GetAvailableThreads (out a, out b);
		Say ("available", a == 100 * cpus);

		Run (Describe);
		Run (() => {
			var t = Thread.CurrentThread;
			t.Name = "mine";
			Say ("named", t.Name);
			t.Name = "twice";
		});
		Run (() => { Thread.CurrentThread.IsBackground = false; Thread.CurrentThread.Priority = ThreadPriority.Highest; });
		for (int i = 0; i < 3; i++)
			Run (Describe);
		Say ("Main is of the pool", Thread.CurrentThread.IsThreadPoolThread);

		Say ("set 0 as minimum", ThreadPool.SetMinThreads (0, 1));
		Say ("set a minimum over the maximum", ThreadPool.SetMinThreads (100 * cpus + 1, 1));
		Say ("set a maximum below the minimum", ThreadPool.SetMaxThreads (0, 0));

		// Many items, from several threads, into one count.
		const int Items = 20000;
		int left = 4 * Items;
		long sum = 0;
		using (var all = new ManualResetEvent (false)) {
			for (int t = 0; t < 4; t++)
				new Thread (() => {
					for (int i = 1; i <= Items; i++)
						ThreadPool.QueueUserWorkItem (n => {
							Interlocked.Add (ref sum, (int) n);
							if (Interlocked.Decrement (ref left) == 0)
								all.Set ();
						}, i);
				}).Start ();
			all.WaitOne ();
		}
		Say ("sum", sum == 4L * Items * (Items + 1) / 2);

		// Items that queue items.
		left = (1 << 13) - 1;
		using (var all = new ManualResetEvent (false)) {
			WaitCallback fork = null;
			fork = n => {
				if ((int) n > 1) {
					ThreadPool.QueueUserWorkItem (fork, (int) n - 1);
					ThreadPool.UnsafeQueueUserWorkItem (fork, (int) n - 1);
				}
				if (Interlocked.Decrement (ref left) == 0)
					all.Set ();
			};
			ThreadPool.QueueUserWorkItem (fork, 13);
			all.WaitOne ();
		}
		Say ("forked", left);

		// More items that wait for each other than there were workers: the pool grows.
		Say ("minimum of 12", ThreadPool.SetMinThreads (12, cpus));
		var threads = new HashSet<int> ();
		using (var meet = new Barrier (12)) using (var all = new CountdownEvent (12)) {
			for (int i = 0; i < 12; i++)
				ThreadPool.QueueUserWorkItem (_ => {
					meet.SignalAndWait ();
					lock (threads)
						threads.Add (Thread.CurrentThread.ManagedThreadId);
					all.Signal ();
				});
			all.Wait ();
		}
		Say ("threads", threads.Count);
		Say ("minimum of 1", ThreadPool.SetMinThreads (1, 1));
		using (var meet = new Barrier (cpus + 14)) using (var all = new CountdownEvent (cpus + 14)) {
			for (int i = 0; i < cpus + 14; i++)
				ThreadPool.QueueUserWorkItem (_ => { meet.SignalAndWait (); all.Signal (); });
			Say ("met by starvation", all.Wait (20000));
		}

		// Registered waits: signalled, timed out, again, taken back.
		using (var wake = new AutoResetEvent (false)) using (var called = new AutoResetEvent (false)) {
			int calls = 0;
			string got = "";
			var once = ThreadPool.RegisterWaitForSingleObject (wake, (s, timedOut) => {
				got = s + " " + timedOut; called.Set ();
			}, "state", 20000, true);
			wake.Set ();
			called.WaitOne ();
			Say ("registered", got);
			once.Unregister (null);
			ThreadPool.RegisterWaitForSingleObject (wake, (s, timedOut) => { got = s + " " + timedOut; called.Set (); }, 7, 20, true);
			called.WaitOne ();
			Say ("registered", got);
			var often = ThreadPool.RegisterWaitForSingleObject (wake, (s, timedOut) => {
				Interlocked.Increment (ref calls); called.Set ();
			}, null, -1, false);
			for (int i = 0; i < 3; i++) {
				wake.Set ();
				called.WaitOne ();
			}
			using (var gone = new ManualResetEvent (false)) {
				Say ("taken back", often.Unregister (gone));
				Say ("gone", gone.WaitOne (20000));
			}
			Say ("calls", calls);
		}
		try { ThreadPool.QueueUserWorkItem (null); } catch (Exception e) { Say ("null", e.GetType ().Name); }
	}
}
