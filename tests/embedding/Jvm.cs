using System;
using System.Runtime.CompilerServices;

public class Cli {
	int value = 1;
	Cli next;
	static object[] kept = new object [64];
	[MethodImpl (MethodImplOptions.InternalCall)] static extern int Java (int n);

	static int Read (Cli c) { return c.value; }
	public static int Nulls (int n)
	{
		int caught = 0;
		var some = new Cli ();
		for (int i = 0; i < n; i++) {
			try { Read (i % 16 == 0 ? null : some); } catch (NullReferenceException) { caught++; }
		}
		return caught;
	}
	public static int Garbage (int n)
	{
		Cli list = null;
		int length = 0;
		for (int i = 0; i < n; i++) {
			kept [i % kept.Length] = new byte [200 + i % 800];
			if (i % 100 == 0) list = new Cli { next = list };
		}
		GC.Collect ();
		for (Cli c = list; c != null; c = c.next) length++;
		return length;
	}
	public static int Divide (int n)
	{
		int caught = 0;
		for (int i = 0; i < n; i++) {
			try { caught += n / (i % 2); } catch (DivideByZeroException) { caught -= n - 1; }
		}
		return caught;
	}
	// Through native code into the other runtime, which faults there, and back.
	public static int Across (int n) { return Java (n) + Nulls (160); }
}
