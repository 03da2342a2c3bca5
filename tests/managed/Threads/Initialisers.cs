using System;
using System.Threading;

// Class constructors with several threads: run once, others wait; a circle between two threads is seen through.
static class Initialisers
{
	static int runs;
	static readonly ManualResetEvent started = new ManualResetEvent (false), go_on = new ManualResetEvent (false);

	class Slow {
		public static readonly int Value;
		static Slow () { Interlocked.Increment (ref runs); started.Set (); go_on.WaitOne (); Value = 42; }
		public static int Get () { return Value; }
	}

	static int at_barrier;
	static void Meet () { Interlocked.Increment (ref at_barrier); while (Volatile.Read (ref at_barrier) < 2) Thread.Yield (); }

	class Left {
		public static readonly string Name, Other;
		static Left () { Name = "left"; Meet (); Other = Right.Name ?? "nothing yet"; }
		public static string Get () { return Other; }
	}
	class Right {
		public static readonly string Name, Other;
		static Right () { Name = "right"; Meet (); Other = Left.Name ?? "nothing yet"; }
		public static string Get () { return Other; }
	}

	class Fails {
		public static int Value = 1;
		static Fails () { Interlocked.Increment (ref runs); Thread.Sleep (20); throw new InvalidOperationException ("not today"); }
		public static int Get () { return Value; }
	}

	class Many<T> {
		public static readonly int Value;
		static Many () { Interlocked.Increment (ref runs); Thread.Yield (); Value = typeof (T).Name.Length; }
		public static int Get () { return Value; }
	}

	static void All (Action<int> work)
	{
		var threads = new Thread [8];
		for (int i = 0; i < threads.Length; i++) {
			int n = i;
			threads [i] = new Thread (() => work (n));
			threads [i].Start ();
		}
		foreach (var t in threads) t.Join ();
	}

	static void Main ()
	{
		var values = new int [8];
		var opener = new Thread (() => { started.WaitOne (); Thread.Sleep (20); go_on.Set (); });
		opener.Start ();
		All (n => values [n] = Slow.Get ());
		Console.WriteLine ("{0} run, seen: {1}", runs, string.Join (" ", values));

		string left = null, right = null;
		var a = new Thread (() => left = Left.Get ());
		var b = new Thread (() => right = Right.Get ());
		a.Start ();
		b.Start ();
		Console.WriteLine ("no deadlock: {0} {1}", a.Join (20000), b.Join (20000));
		Console.WriteLine ("{0}, {1}", left, right);

		runs = 0;
		int thrown = 0;
		All (n => {
			try { Fails.Get (); }
			catch (TypeInitializationException e) when (e.InnerException is InvalidOperationException) { Interlocked.Increment (ref thrown); }
		});
		Console.WriteLine ("{0} run, thrown {1} times", runs, thrown);

		runs = 0;
		All (n => {
			values [n] = Many<int>.Get () + Many<string>.Get () + Many<object>.Get () + Many<int []>.Get () + Many<Type>.Get ()
				+ Many<long>.Get () + Many<byte>.Get () + Many<Action>.Get () + Many<char>.Get () + Many<double>.Get ();
		});
		Console.WriteLine ("{0} run, seen: {1}", runs, string.Join (" ", values));
	}
}
