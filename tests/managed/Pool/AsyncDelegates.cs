using System;
using System.Runtime.Remoting.Messaging;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

// BeginInvoke and EndInvoke of delegates: arguments and results of all shapes, by reference, callbacks, wait handles,
// exceptions, misuse.
static class AsyncDelegates
{
	delegate int Everything (int a, ref string s, out long l, ref Big big);
	delegate Big Structs (Big b, Small s, double d, int? n);
	delegate DateTime Mixed (DateTime t, byte b, object o);
	unsafe delegate int* Pointers (int* p);
	delegate int? Nullables (ref int? a, int? b);

	struct Big { public int A; public string B; public double C; public long D; }
	struct Small { public byte X; public string Y; }

	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }
	static void Try (string what, Action a)
	{
		try { a (); Say (what, "ok"); }
		catch (Exception e) { Say (what, e.GetType () + ": " + e.Message); }
	}

	static int Work (int a, ref string s, out long l, ref Big big)
	{
		l = a * 2;
		s += "!";
		big.A++;
		big.B += "?";
		return a + 1;
	}

	static void Throws () { throw new FormatException ("bad"); }

	static unsafe void Main ()
	{
		Everything all = Work;
		string s = "x";
		long l = -1;
		var big = new Big { A = 1, B = "b", C = 1.5, D = 7 };
		var result = all.BeginInvoke (5, ref s, out l, ref big, null, "state");
		Say ("state", result.AsyncState + " " + result.CompletedSynchronously + " " + result.GetType ());
		Say ("untouched", s + " " + big.A + big.B);
		Say ("result", all.EndInvoke (ref s, out l, ref big, result) + " " + s + " " + l + " " + big.A + big.B + " " + result.IsCompleted);
		Try ("twice", () => all.EndInvoke (ref s, out l, ref big, result));

		Action nothing = () => { }, other = () => { };
		Try ("of another", () => other.EndInvoke (nothing.BeginInvoke (null, null)));
		Try ("null", () => nothing.EndInvoke (null));
		Try ("foreign", () => nothing.EndInvoke (Task.FromResult (1)));
		Try ("two targets", () => (nothing + other).BeginInvoke (null, null));
		Action none = null;
		Try ("no delegate", () => none.BeginInvoke (null, null));
		Try ("what it threw", () => { Action bad = Throws; bad.EndInvoke (bad.BeginInvoke (null, null)); });
		try { Action bad = Throws; bad.EndInvoke (bad.BeginInvoke (null, null)); }
		catch (FormatException e) {
			Say ("trace begins in the call", Regex.IsMatch (e.StackTrace, @"^  at AsyncDelegates.Throws \(\)"));
			Say ("trace ends here", Regex.IsMatch (e.StackTrace, @"at AsyncDelegates.Main \(\) [^\n]*$"));
		}

		using (var called = new ManualResetEvent (false)) {
			nothing.BeginInvoke (r => {
				var a = (AsyncResult) r;
				Say ("callback", r.AsyncState + " " + r.IsCompleted + " " + a.EndInvokeCalled + " " + (a.AsyncDelegate == (object) nothing) + " " + Thread.CurrentThread.IsThreadPoolThread);
				nothing.EndInvoke (r);
				Say ("ended", a.EndInvokeCalled);
				called.Set ();
			}, 7);
			called.WaitOne ();
		}

		Structs structs = (b, x, d, n) => { b.A += x.X; b.B += x.Y + d; b.C *= 2; b.D -= n ?? 100; return b; };
		foreach (var n in new int? [] { null, 3 }) {
			var b = structs.EndInvoke (structs.BeginInvoke (big, new Small { X = 9, Y = "y" }, 2.5, n, null, null));
			Say ("structs", b.A + b.B + b.C + " " + b.D);
		}
		Mixed mixed = (t, b, o) => t.AddDays (b + (int) o);
		Say ("mixed", mixed.EndInvoke (mixed.BeginInvoke (new DateTime (2020, 1, 1), 200, 100, null, null)).Year);
		Func<float, double> floats = x => x * 2;
		Say ("floats", floats.EndInvoke (floats.BeginInvoke (1.25f, null, null)));
		Func<sbyte, short, char, ulong, ulong> small = (a, b, c, d) => (ulong) (a + b + c) + d;
		Say ("small", small.EndInvoke (small.BeginInvoke (-1, -2, 'd', ulong.MaxValue - 97, null, null)));
		Nullables nullables = (ref int? a, int? b) => { var r = a; a = b; return r; };
		int? one = 1;
		var swapped = nullables.BeginInvoke (ref one, null, null, null);
		Say ("nullable result", nullables.EndInvoke (ref one, swapped) + " " + one.HasValue);
		swapped = nullables.BeginInvoke (ref one, 4, null, null);
		Say ("nullable result", nullables.EndInvoke (ref one, swapped).HasValue + " " + one);
		int z = 5;
		Pointers pointers = p => p + 1;
		Say ("pointers", pointers.EndInvoke (pointers.BeginInvoke (&z, null, null)) - &z);
		Func<string> nulls = () => null;
		Say ("null result", nulls.EndInvoke (nulls.BeginInvoke (null, null)) == null);

		var go = new ManualResetEvent (false);
		Action slow = () => go.WaitOne ();
		var waiting = slow.BeginInvoke (null, null);
		Say ("before", waiting.IsCompleted + " " + waiting.AsyncWaitHandle.WaitOne (10));
		go.Set ();
		Say ("after", waiting.AsyncWaitHandle.WaitOne (20000) + " " + waiting.IsCompleted);
		slow.EndInvoke (waiting);

		long sum = 0;
		Func<int, string, int> many = (i, t) => { Interlocked.Add (ref sum, i); return i + t.Length; };
		var results = new IAsyncResult [2000];
		for (int i = 0; i < results.Length; i++)
			results [i] = many.BeginInvoke (i, new string ('a', i % 7), null, null);
		int wrong = 0;
		for (int i = 0; i < results.Length; i++)
			if (many.EndInvoke (results [i]) != i + i % 7)
				wrong++;
		Say ("many", wrong + " " + sum);
	}
}
