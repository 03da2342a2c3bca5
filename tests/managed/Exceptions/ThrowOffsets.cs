// The IL offset of a throw in a trace: that of the statement if the core library makes the exception from strings, that of the
// instruction behind the constructor's call otherwise.
using System;
using System.Reflection;

class ThrowOffsets
{
	static Exception inner = new Exception ("inner");

	static void Strings () { throw new ArgumentException ("a", "b"); }
	static void Wrapped () { try { throw inner; } catch (Exception e) { throw new TargetInvocationException (e); } }
	static void WithInner () { try { throw inner; } catch (Exception e) { throw new ApplicationException ("c", e); } }

	static void Main ()
	{
		foreach (Action a in new Action[] { Strings, Wrapped, WithInner })
			try { a (); } catch (Exception e) {
				var trace = e.StackTrace;
				Console.WriteLine (trace.Substring (0, trace.IndexOf (']') + 1));
			}
	}
}
