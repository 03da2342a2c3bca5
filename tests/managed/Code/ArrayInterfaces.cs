// Arrays and lists behind the same interface: the compiler guesses their methods, and inlines what the class library gives to arrays.
// tiers: all
using System;
using System.Collections.Generic;

class Program
{
	struct Pair { public int A; public string B; public Pair (int a, string b) { A = a; B = b; } }

	static int Sum (IList<int> list)
	{
		int sum = 0;
		for (int i = 0; i < list.Count; i++)
			sum += list[i];
		return sum;
	}

	static int SumAll (IEnumerable<int> all)
	{
		int sum = 0;
		foreach (var n in all)
			sum += n;
		return sum;
	}

	static string Names (IList<object> list)
	{
		string text = "";
		for (int i = 0; i < list.Count; i++)
			text += list[i] + ";";
		return text;
	}

	static string Pairs (IList<Pair> list)
	{
		string text = "";
		for (int i = 0; i < list.Count; i++)
			text += list[i].A + list[i].B + ";";
		return text;
	}

	static void Set (IList<object> list, int at, object value)
	{
		try {
			list[at] = value;
			Console.WriteLine ("set");
		} catch (Exception e) {
			Console.WriteLine (e.GetType ().Name);
		}
	}

	static string At (IList<int> list, int at)
	{
		try {
			return list[at].ToString ();
		} catch (Exception e) {
			return e.GetType ().Name;
		}
	}

	static void Main ()
	{
		var numbers = new int[] { 1, 2, 3, 4 };
		var words = new string[] { "a", "b", null };
		for (int round = 0; round < 3; round++) {
			Console.WriteLine ("{0} {1} {2}", Sum (numbers), Sum (new List<int> (numbers)), Sum (new ArraySegment<int> (numbers, 1, 2)));
			Console.WriteLine ("{0} {1}", SumAll (numbers), SumAll (new List<int> (numbers)));
			// An enumeration's array is an array of its numbers to the runtime, and uint[] is one of int.
			Console.WriteLine (Sum ((IList<int>) (object) new uint[] { 5, 6 }));
			Console.WriteLine (Sum ((IList<int>) (object) new DayOfWeek[] { DayOfWeek.Friday, DayOfWeek.Monday }));
			Console.WriteLine ("{0} {1}", Names (words), Names (new object[] { 1, "x" }));
			Console.WriteLine ("{0} {1}", Pairs (new[] { new Pair (1, "p"), new Pair (2, "q") }), Pairs (new List<Pair> { new Pair (3, "r") }));
			Set (words, 0, "c");
			Set (words, 1, 5);
			Set (new object[1], 0, 5);
			Set (words, 3, "d");
			Console.WriteLine ("{0} {1} {2}", At (numbers, 3), At (numbers, 4), At (numbers, -1));
			Console.WriteLine ("{0} {1}", ((ICollection<int>) numbers).Contains (3), ((IList<string>) words).IndexOf ("b"));
			try {
				((ICollection<int>) numbers).Add (1);
			} catch (Exception e) {
				Console.WriteLine (e.GetType ().Name);
			}
			try {
				Sum (null);
			} catch (Exception e) {
				Console.WriteLine (e.GetType ().Name);
			}
		}
	}
}
