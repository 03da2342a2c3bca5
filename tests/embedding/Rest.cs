using System;
using System.Runtime.CompilerServices;

public class Rest {
	[MethodImpl (MethodImplOptions.InternalCall)] static extern void Here (bool il);

	public static void Outer () { Middle (1); }
	[MethodImpl (MethodImplOptions.NoInlining)] static int Middle (int n) { Inner (true); Inner (false); return n + 1; }
	[MethodImpl (MethodImplOptions.NoInlining)] static void Inner (bool il) { Here (il); GC.KeepAlive (null); }

	public static string Parameters (int first, ref string second, params object[] rest) { second = null; return "" + first + rest; }
	public static int Clauses (string s)
	{
		int[] all = new int [3];
		try {
			try { return int.Parse (s); }
			catch (FormatException) { all [0]++; }
			catch (Exception e) when (e.Message.Length > 3) { all [1]++; }
		} finally { all [2]++; }
		foreach (int i in all)
			Console.WriteLine (i);
		return 0;
	}
	public static string UseCarried () { return Carried.Thing.Name; }
	public event EventHandler Changed { add { } remove { } }
	public int Number { get; set; }
}
