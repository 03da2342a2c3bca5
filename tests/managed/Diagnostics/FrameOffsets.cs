// Without symbols a StackFrame does not know the IL offset, which is 0. The traces of exceptions know it.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;

class P {
	[MethodImpl (MethodImplOptions.NoInlining)]
	static void Frames () {
		var before = Environment.TickCount;
		foreach (var frame in new StackTrace ().GetFrames ())
			Console.WriteLine (frame.GetMethod ().Name + " " + frame.GetILOffset ());
		Console.WriteLine (new StackFrame (0).GetILOffset () + " " + new StackFrame (1, true).GetILOffset ());
		Console.WriteLine (new StackFrame (0).GetNativeOffset () > 0);
		Console.WriteLine (new StackFrame (0) + "");
		foreach (var line in Environment.StackTrace.Split ('\n'))
			Console.WriteLine (line.Split (new[] { " in " }, StringSplitOptions.None)[0]);
		GC.KeepAlive (before);
	}

	[MethodImpl (MethodImplOptions.NoInlining)]
	static void Throw (int n) {
		Console.WriteLine ("throws");
		if (n > 0)
			throw new Exception ();
	}

	static void Main () {
		Console.WriteLine ("begin");
		Frames ();
		try { Throw (1); }
		catch (Exception e) { foreach (var frame in new StackTrace (e).GetFrames ()) Console.WriteLine (frame.GetMethod ().Name + " " + (frame.GetILOffset () > 0)); }
	}
}
