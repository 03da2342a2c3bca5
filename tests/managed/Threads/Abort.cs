using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

// Thread.Abort of another thread: wherever it is, and where it has to wait. What the class library does only once, such as making
// a comparer by reflection (where the abort would arrive wrapped, as in mono), is done before the abort may come.
static class Abort
{
	static readonly ManualResetEvent reached = new ManualResetEvent (false);
	static volatile int spins;
	static volatile bool go;

	static void Catch (string what, ThreadStart body)
	{
		reached.Reset ();
		spins = 0;
		go = false;
		string caught = "nothing";
		var thread = new Thread (() => {
			try {
				body ();
			} catch (ThreadAbortException e) {
				caught = e.GetType ().Name + " " + (e.ExceptionState ?? "null") + " " + Thread.CurrentThread.ThreadState;
				Thread.ResetAbort ();
			}
		});
		thread.Start ();
		reached.WaitOne ();
		Thread.Sleep (5);
		thread.Abort (what);
		go = true;
		bool ended = thread.Join (10000);
		Console.WriteLine ("{0}: {1}, ended {2}, {3}", what, caught, ended, thread.ThreadState);
	}

	[MethodImpl (MethodImplOptions.NoInlining)]
	static void Leaf () { spins++; }
	[MethodImpl (MethodImplOptions.NoInlining)]
	static int Deep (int n) { return n == 0 ? 0 : Deep (n - 1) + 1; }
	static IEnumerable<int> Forever () { for (;;) yield return 1; }

	static class Constructed
	{
		public static bool done;
		static Constructed () { reached.Set (); Thread.Sleep (100); done = true; }
		public static void Touch () { }
	}
	static bool Filter () { reached.Set (); while (!go) ; Thread.Sleep (30); Console.WriteLine ("  filter ends"); return true; }
	[MethodImpl (MethodImplOptions.Synchronized)]
	static void Locked () { reached.Set (); for (;;) spins++; }

	static void Main ()
	{
		object gate = new object ();
		Catch ("loop", () => { reached.Set (); for (;;) ; });
		Catch ("counting loop", () => { reached.Set (); for (int i = 0;; i++) spins = i; });
		Catch ("floats", () => { reached.Set (); double x = 1; for (;;) x = Math.Sqrt (x + spins) * 1.5; });
		Catch ("loop in try", () => { try { reached.Set (); for (;;) ; } finally { spins = -1; } });
		Console.WriteLine ("  finally: {0}", spins);
		Catch ("leaf calls in try", () => { try { reached.Set (); for (;;) Leaf (); } finally { spins = -1; } });
		Catch ("continue out of a finally", () => { reached.Set (); for (;;) { try { if (spins == 0) continue; } finally { spins = 0; } } });
		Catch ("calls", () => { reached.Set (); for (;;) Deep (20); });
		Catch ("allocation", () => { reached.Set (); for (;;) new object (); });
		Catch ("boxes and strings", () => { string s = "x" + spins; reached.Set (); for (int i = 0;; i++) s = "x" + i; });
		Catch ("foreach", () => { reached.Set (); foreach (int i in Forever ()) spins += i; });
		Catch ("generic dictionary", () => { var d = new Dictionary<string, int> { { "k", 1 } }; reached.Set (); for (int i = 0;; i++) d ["k" + i % 100] = i; });
		Catch ("throwing", () => { reached.Set (); for (;;) { try { throw new InvalidOperationException (); } catch (InvalidOperationException) { } } });
		Catch ("sleep", () => { reached.Set (); Thread.Sleep (Timeout.Infinite); });
		Catch ("event", () => { var e = new AutoResetEvent (false); reached.Set (); e.WaitOne (); });
		Catch ("wait all", () => { reached.Set (); WaitHandle.WaitAll (new WaitHandle [] { new AutoResetEvent (false), new Mutex () }); });
		Catch ("join", () => { var main = new Thread (() => Thread.Sleep (200)); main.IsBackground = true; main.Start (); reached.Set (); main.Join (); });
		lock (gate) Catch ("enter", () => { reached.Set (); lock (gate) { } });
		Catch ("wait", () => { lock (gate) { reached.Set (); Monitor.Wait (gate); } });
		Console.WriteLine ("  gate is free: {0}", Monitor.TryEnter (gate));
		Monitor.Exit (gate);
		Catch ("synchronized", Locked);
		Console.WriteLine ("  type is free: {0}", Monitor.TryEnter (typeof (Abort)));
		Monitor.Exit (typeof (Abort));
		Catch ("finally", () => { try { } finally { reached.Set (); while (!go) ; Thread.Sleep (30); Console.WriteLine ("  finally ends"); } Console.WriteLine ("  not here"); });
		Catch ("finally on the way out", () => {
			try {
				try { throw new InvalidOperationException (); }
				finally { reached.Set (); while (!go) ; Thread.Sleep (30); Console.WriteLine ("  finally ends"); }
			} catch (InvalidOperationException) { for (;;) ; }
		});
		Catch ("nested finally", () => {
			try { } finally {
				try { } finally { reached.Set (); Thread.Sleep (60); }
				Console.WriteLine ("  outer goes on");
			}
			Console.WriteLine ("  not here");
		});
		Catch ("filter", () => { try { throw new Exception (); } catch (Exception) when (Filter ()) { Console.WriteLine ("  handler"); for (;;) ; } });
		Catch ("class constructor", () => { Constructed.Touch (); for (;;) ; });
		Console.WriteLine ("  constructed: {0}", Constructed.done);
		Catch ("catch", () => { try { throw new Exception (); } catch { reached.Set (); for (;;) ; } });
		Catch ("reset in time", () => { try { } finally { reached.Set (); while (!go) ; Thread.ResetAbort (); } Console.WriteLine ("  goes on"); });

		// Caught again at each level until it is reset.
		int levels = 0;
		var deep = new Thread (() => {
			try {
				try {
					try { reached.Set (); Thread.Sleep (Timeout.Infinite); }
					catch (ThreadAbortException) { levels++; }
					levels += 100;
				} catch (Exception) { levels++; }
				levels += 100;
			} finally { levels += 10; }
		});
		reached.Reset ();
		deep.Start ();
		reached.WaitOne ();
		deep.Abort ();
		deep.Join ();
		Console.WriteLine ("levels: {0}, {1}", levels, deep.ThreadState);

		// A second request while the first is under way does nothing; one after a reset counts.
		int aborts = 0;
		var twice = new Thread (() => {
			for (int i = 0; i < 3; i++)
				try { reached.Set (); Thread.Sleep (Timeout.Infinite); }
				catch (ThreadAbortException e) { aborts += (int) e.ExceptionState; Thread.ResetAbort (); }
		});
		reached.Reset ();
		twice.Start ();
		for (int i = 0; i < 3; i++) {
			reached.WaitOne ();
			reached.Reset ();
			twice.Abort (1);
		}
		twice.Join ();
		Console.WriteLine ("aborts: {0}", aborts);

		var never = new Thread (() => Console.WriteLine ("not here"));
		never.Abort ();
		Console.WriteLine (never.ThreadState);
		never.Start ();
		Console.WriteLine (never.ThreadState);
		never.Abort ();
		deep.Abort ();
		try { Thread.ResetAbort (); }
		catch (ThreadStateException e) { Console.WriteLine (e.Message); }
	}
}
