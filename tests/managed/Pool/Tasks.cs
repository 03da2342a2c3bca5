using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// Tasks, continuations, exceptions, cancellation, async methods, Parallel, PLINQ.
static class Tasks
{
	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }
	static string Caught (Action a)
	{
		try { a (); return "nothing"; }
		catch (AggregateException e) { return "Aggregate of " + string.Join (", ", e.Flatten ().InnerExceptions.Select (x => x.GetType ().Name + " " + x.Message.Split ('\n') [0]).OrderBy (x => x)); }
		catch (Exception e) { return e.GetType ().Name + " " + e.Message.Split ('\n') [0]; }
	}

	static int Fib (int n)
	{
		if (n < 10)
			return n < 2 ? n : Fib (n - 1) + Fib (n - 2);
		var a = Task.Run (() => Fib (n - 1));
		return Fib (n - 2) + a.Result;
	}

	static async Task<int> Add (int a, int b)
	{
		await Task.Yield ();
		return a + b;
	}
	static async Task<int> Sum (int n)
	{
		int s = 0;
		for (int i = 0; i < n; i++)
			s = await Add (s, i);
		return s;
	}
	static async Task Throws (string what)
	{
		await Task.Delay (1);
		throw new InvalidOperationException (what);
	}
	static async Task<string> Catches ()
	{
		string log = "";
		try { await Throws ("first"); }
		catch (InvalidOperationException e) when (e.Message == "first") { log += "caught " + e.Message; await Task.Yield (); log += ", went on"; }
		finally { await Task.Yield (); log += ", finally"; }
		return log;
	}
	static async Task<int> WithCancel (CancellationToken t)
	{
		await Task.Delay (60000, t);
		return 1;
	}
	static readonly AsyncLocal<string> local = new AsyncLocal<string> ();
	static async Task<string> Flow ()
	{
		local.Value = "outer";
		var inner = Task.Run (async () => { var seen = local.Value; local.Value = "inner"; await Task.Yield (); return seen + "/" + local.Value; });
		var result = await inner;
		return result + "/" + local.Value;
	}

	static void Main ()
	{
		Say ("result", Task.Run (() => 42).Result);
		Say ("fib", Fib (20));
		Say ("continuation", Task.Run (() => 1).ContinueWith (t => t.Result + 1).ContinueWith (t => t.Result + 1).Result);
		Say ("when all", Task.WhenAll (Enumerable.Range (0, 100).Select (i => Task.Run (() => i))).Result.Sum ());
		var source = new TaskCompletionSource<int> ();
		Say ("when any", Task.WhenAny (source.Task, Task.Run (() => 5)).Result.Result);
		source.SetResult (6);
		Say ("source", source.Task.Result + " " + source.Task.Status);
		Say ("fault", Caught (() => Task.Run (() => { throw new ArgumentException ("bad"); }).Wait ()));
		Say ("faults", Caught (() => Task.WaitAll (Throws ("a"), Throws ("b"))));
		Say ("awaited fault", Caught (() => Throws ("c").GetAwaiter ().GetResult ()));
		Say ("long running", Task.Factory.StartNew (() => Thread.CurrentThread.IsThreadPoolThread, TaskCreationOptions.LongRunning).Result);
		var parent = Task.Factory.StartNew (() => {
			for (int i = 0; i < 3; i++)
				Task.Factory.StartNew (() => Thread.Sleep (5), TaskCreationOptions.AttachedToParent);
		});
		parent.Wait ();
		Say ("parent", parent.Status);

		Say ("async sum", Sum (1000).Result);
		Say ("async catch", Catches ().Result);
		Say ("flow", Flow ().Result + "/" + (local.Value ?? "null"));

		var cancel = new CancellationTokenSource ();
		var waiting = WithCancel (cancel.Token);
		bool registered = false;
		cancel.Token.Register (() => registered = true);
		cancel.Cancel ();
		Say ("cancelled", Caught (() => waiting.Wait ()) + ", " + waiting.Status + ", " + registered);
		using (var late = new CancellationTokenSource (30))
			Say ("cancelled late", Caught (() => Task.Delay (60000, late.Token).Wait ()));
		using (var after = new CancellationTokenSource ()) {
			after.CancelAfter (20);
			Say ("signalled after", after.Token.WaitHandle.WaitOne (20000));
		}
		using (var one = new CancellationTokenSource ()) using (var two = CancellationTokenSource.CreateLinkedTokenSource (one.Token)) {
			one.Cancel ();
			Say ("linked", two.IsCancellationRequested);
			Say ("before it began", Caught (() => Task.Run (() => { }, two.Token).Wait ()));
		}
		Say ("wait with a time", Task.Delay (60000).Wait (20));

		long sum = 0;
		Parallel.For (0, 10000, i => Interlocked.Add (ref sum, i));
		Say ("parallel for", sum);
		sum = 0;
		Parallel.For (0, 10000, () => 0L, (i, s, l) => l + i, l => Interlocked.Add (ref sum, l));
		Say ("parallel for, local", sum);
		var bag = new ConcurrentBag<int> ();
		Parallel.ForEach (Enumerable.Range (0, 1000), bag.Add);
		Say ("parallel for each", bag.Distinct ().Count ());
		int invoked = 0;
		Parallel.Invoke (() => Interlocked.Increment (ref invoked), () => Interlocked.Increment (ref invoked), () => Interlocked.Increment (ref invoked));
		Say ("parallel invoke", invoked);
		Say ("parallel fault", Caught (() => Parallel.For (0, 10, i => { if (i == 3) throw new InvalidOperationException ("three"); })));
		var broken = Parallel.For (0, 100000, (i, s) => { if (i >= 50) s.Break (); });
		Say ("broken", broken.IsCompleted + " " + (broken.LowestBreakIteration >= 50 && broken.LowestBreakIteration < 100000));

		var numbers = Enumerable.Range (0, 20000).ToArray ();
		Say ("plinq sum", numbers.AsParallel ().Where (n => n % 3 == 0).Select (n => (long) n * 2).Sum ());
		Say ("plinq ordered", string.Join (",", numbers.AsParallel ().AsOrdered ().Where (n => n % 4001 == 0)));
		Say ("plinq groups", numbers.AsParallel ().GroupBy (n => n % 7).Select (g => g.Count ()).Sum ());
		Say ("plinq order by", numbers.AsParallel ().OrderByDescending (n => n).First ());
		Say ("plinq aggregate", numbers.AsParallel ().Aggregate (0L, (s, n) => s + n, (a, b) => a + b, s => s));
		Say ("plinq fault", Caught (() => numbers.AsParallel ().ForAll (n => { if (n == 77) throw new FormatException ("77"); })));
		using (var stop = new CancellationTokenSource ()) {
			stop.Cancel ();
			Say ("plinq cancelled", Caught (() => numbers.AsParallel ().WithCancellation (stop.Token).Sum ()));
		}

		// Schedulers.
		var pair = new ConcurrentExclusiveSchedulerPair ();
		int inside = 0, most = 0;
		var exclusive = new TaskFactory (pair.ExclusiveScheduler);
		Task.WaitAll (Enumerable.Range (0, 20).Select (_ => exclusive.StartNew (() => {
			most = Math.Max (most, Interlocked.Increment (ref inside));
			Thread.Yield ();
			Interlocked.Decrement (ref inside);
		})).ToArray ());
		Say ("exclusive", most);

		// An exception nobody looks at is reported when the task is collected, and ends nothing.
		var unobserved = new ManualResetEvent (false);
		TaskScheduler.UnobservedTaskException += (s, e) => { e.SetObserved (); unobserved.Set (); };
		Forget ();
		for (int i = 0; i < 50 && !unobserved.WaitOne (20); i++) {
			GC.Collect ();
			GC.WaitForPendingFinalizers ();
		}
		Say ("unobserved", unobserved.WaitOne (0));
	}

	static void Forget ()
	{
		var t = new Thread (() => {
			for (int i = 0; i < 20; i++)
				((IAsyncResult) Task.Run (() => { throw new Exception ("nobody looks"); })).AsyncWaitHandle.WaitOne ();
		});
		t.Start ();
		t.Join ();
	}
}
