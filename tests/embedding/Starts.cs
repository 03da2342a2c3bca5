using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Starts {
	[MethodImpl (MethodImplOptions.InternalCall)] static extern void Go ();
	static void Main ()
	{
		var thread = new Thread (() => Console.WriteLine ("the thread runs"));
		thread.Start ();
		Console.WriteLine ("Start has returned");
		Go ();
		thread.Join ();
	}
}
