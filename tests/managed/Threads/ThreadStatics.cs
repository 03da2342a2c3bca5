using System;
using System.Threading;

// What belongs to a thread: thread statics of all kinds, data slots, ThreadLocal.
static class ThreadStatics
{
	struct Pair { public int Number; public string Text; }

	[ThreadStatic] static int number;
	[ThreadStatic] static string text;
	[ThreadStatic] static Pair pair;
	[ThreadStatic] static int initialised = 5;

	static class Generic<T> { [ThreadStatic] public static T Value; }

	static readonly LocalDataStoreSlot slot = Thread.AllocateDataSlot ();
	static readonly ThreadLocal<int> local = new ThreadLocal<int> (() => Thread.CurrentThread.Name.Length);

	static string Show ()
	{
		return string.Format ("{0} {1} {2}/{3} {4} {5} {6} {7} {8}", number, text ?? "-", pair.Number, pair.Text ?? "-", initialised,
			Generic<int>.Value, Generic<string>.Value ?? "-", Thread.GetData (slot) ?? "-", Thread.GetData (Thread.GetNamedDataSlot ("named")) ?? "-");
	}

	static void Fill (int n)
	{
		number = n;
		text = "t" + n;
		pair = new Pair { Number = n * 2, Text = "p" + n };
		initialised = n;
		Generic<int>.Value = n * 3;
		Generic<string>.Value = "g" + n;
		Thread.SetData (slot, "s" + n);
		Thread.SetData (Thread.GetNamedDataSlot ("named"), "n" + n);
	}

	static void Main ()
	{
		Thread.CurrentThread.Name = "main";
		Console.WriteLine (Show ());
		Fill (1);
		bool clean = true;
		var lines = new string [200];
		for (int round = 0; round < 25; round++) {
			var threads = new Thread [8];
			for (int i = 0; i < threads.Length; i++) {
				int n = 2 + round * 8 + i;
				threads [i] = new Thread (() => {
					if (Show () != "0 - 0/- 0 0 - - -") clean = false; // nothing of threads that ended
					Fill (n);
					Thread.Sleep (0);
					lines [n - 2] = Show ();
					if (local.Value != 3) clean = false;
				}) { Name = "one" };
				threads [i].Start ();
			}
			foreach (var t in threads) t.Join ();
		}
		Console.WriteLine (clean);
		Console.WriteLine (lines [0]);
		Console.WriteLine (lines [199]);
		Console.WriteLine (Show ());
		Console.WriteLine (local.Value);
	}
}
