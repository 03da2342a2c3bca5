using System;
using System.Collections.Generic;
using System.Threading;

// The life of a thread: started with and without a parameter, joined with and without a time, its state and its name.
static class StartJoin
{
	static void Try (string what, Action action)
	{
		try { action (); Console.WriteLine ("{0}: ok", what); }
		catch (Exception e) { Console.WriteLine ("{0}: {1}: {2}", what, e.GetType ().Name, e.Message.Split ('\n') [0]); }
	}

	static void Describe (string what, Thread t) { Console.WriteLine ("{0}: {1}, alive {2}", what, t.ThreadState, t.IsAlive); }

	static int Depth (int n) { return n == 0 ? 0 : 1 + Depth (n - 1); }

	static void Main ()
	{
		object given = null;
		var t = new Thread (x => given = x) { Name = "with an argument" };
		Describe ("made", t);
		Try ("join before start", () => t.Join ());
		Try ("join before start, time", () => t.Join (1));
		t.Start ("argument");
		t.Join ();
		Describe ("joined", t);
		Console.WriteLine ("{0} {1}", t.Name, given);
		Try ("start again", () => t.Start ());
		Try ("join again", () => t.Join ());
		Try ("background of a dead thread", () => t.IsBackground = true);
		Try ("priority of a dead thread", () => Console.WriteLine (t.Priority));
		Try ("argument for a plain start", () => new Thread (() => { }).Start (1));
		Try ("no delegate", () => new Thread ((ThreadStart) null));
		Try ("negative stack", () => new Thread (() => { }, -1));
		Try ("name twice", () => { var n = new Thread (() => { }); n.Name = "a"; n.Name = "b"; });

		var inside = new List<string> ();
		var gate = new ManualResetEvent (false);
		var u = new Thread (() => {
			var self = Thread.CurrentThread;
			inside.Add (self.Name + " " + self.ManagedThreadId.Equals (Thread.CurrentThread.ManagedThreadId));
			inside.Add (self.ThreadState + " " + self.GetApartmentState () + " " + self.Priority + " " + self.IsThreadPoolThread);
			gate.WaitOne ();
		}) { Name = "u", IsBackground = true, Priority = ThreadPriority.AboveNormal };
		Describe ("background, made", u);
		u.Start ();
		while (u.ThreadState != (ThreadState.Background | ThreadState.WaitSleepJoin)) Thread.Sleep (1);
		Console.WriteLine ("late: {0} {1}", u.Join (1), u.Join (TimeSpan.FromMilliseconds (2)));
		gate.Set ();
		Console.WriteLine ("in time: {0}", u.Join (60000));
		Describe ("background, joined", u);
		inside.ForEach (Console.WriteLine);

		var ids = new HashSet<int> ();
		var many = new Thread [20];
		for (int i = 0; i < many.Length; i++)
			many [i] = new Thread (() => { lock (ids) ids.Add (Thread.CurrentThread.ManagedThreadId); });
		foreach (var m in many) m.Start ();
		foreach (var m in many) m.Join ();
		Console.WriteLine ("{0} ids, main's among them: {1}", ids.Count, ids.Contains (Thread.CurrentThread.ManagedThreadId));

		int depth = 0;
		var deep = new Thread (() => depth = Depth (200000), 64 << 20);
		deep.Start ();
		deep.Join ();
		Console.WriteLine ("deep: {0}", depth);
		var shallow = new Thread (() => depth = Depth (500), 1);
		shallow.Start ();
		shallow.Join ();
		Console.WriteLine ("shallow: {0}", depth);

		var aborts = new Thread (() => { try { Thread.CurrentThread.Abort ("why"); } finally { Console.WriteLine ("finally"); } });
		aborts.Start ();
		aborts.Join ();
		Console.WriteLine (aborts.ThreadState);
		var never = new Thread (() => Console.WriteLine ("never"));
		never.Abort ();
		Describe ("aborted before its start", never);
		Try ("starting it", () => never.Start ());

		var interrupted = new Thread (() => {
			Try ("sleep", () => Thread.Sleep (Timeout.Infinite));
			Try ("sleep again", () => Thread.Sleep (1));
			Try ("joins itself for a while", () => Thread.CurrentThread.Join (1));
		});
		interrupted.Interrupt ();
		interrupted.Start ();
		interrupted.Join ();
		var waits = new Thread (() => Try ("event", () => new AutoResetEvent (false).WaitOne ()));
		waits.Start ();
		while (waits.ThreadState != ThreadState.WaitSleepJoin) Thread.Yield ();
		waits.Interrupt ();
		waits.Join ();
	}
}
