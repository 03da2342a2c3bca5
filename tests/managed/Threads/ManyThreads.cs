using System;
using System.Threading;

// Ten thousand threads, a hundred at a time: nothing of theirs stays.
static class ManyThreads
{
	[ThreadStatic] static int mine;
	static int total;

	static long Mapped ()
	{
		long kb = 0;
		foreach (string line in System.IO.File.ReadAllLines ("/proc/self/status"))
			if (line.StartsWith ("VmSize:")) kb = long.Parse (line.Split (new [] { ' ', '\t' }, StringSplitOptions.RemoveEmptyEntries) [1]);
		return kb;
	}

	static void Round (int count)
	{
		var threads = new Thread [count];
		for (int i = 0; i < count; i++) {
			threads [i] = new Thread (() => { mine++; lock (typeof (ManyThreads)) total += mine; });
			threads [i].Start ();
		}
		foreach (var t in threads) t.Join ();
	}

	static void Main ()
	{
		for (int i = 0; i < 10; i++) Round (100);
		long before = Mapped ();
		for (int i = 0; i < 90; i++) Round (100);
		Console.WriteLine (total);
		Console.WriteLine ("address space grew by less than 2 GB: {0}", Mapped () - before < 2 << 20);
	}
}
