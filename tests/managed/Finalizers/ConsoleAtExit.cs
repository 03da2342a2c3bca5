// Finalizers at the end of the process may write to the console, also where its stream was registered for finalization after their objects.
// expect: main
// expect: second
// expect: first
using System;

class First { ~First () { Console.WriteLine ("first"); } }
class Second { ~Second () { Console.WriteLine ("second"); } }

class Program
{
	static First first;
	static Second second;

	static void Main ()
	{
		first = new First ();
		second = new Second ();
		Console.WriteLine ("main");
	}
}
