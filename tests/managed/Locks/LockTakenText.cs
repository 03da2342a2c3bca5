// A `lockTaken` that is true already is refused before anything else: in mono Monitor.Enter is native code, with a text of its own, and TryEnter is managed.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class P {
	static void Try (string name, Action action) {
		try { action (); Console.WriteLine (name + ": returned"); }
		catch (Exception e) { Console.WriteLine (name + ": " + e.GetType () + ": " + e.Message.Replace ("\n", "|") + "|" + e.StackTrace.Split ('\n')[0].Split ('[')[0]); }
	}

	[MethodImpl (MethodImplOptions.NoInlining)] static void Enter (object o, bool taken) { Monitor.Enter (o, ref taken); }

	static void Main () {
		var o = new object ();
		Try ("Enter", () => Enter (o, true));
		Console.WriteLine (Monitor.IsEntered (o));
		Try ("Enter, null, true", () => Enter (null, true));
		Try ("Enter, null", () => Enter (null, false));
		Try ("TryEnter", () => { bool taken = true; Monitor.TryEnter (o, ref taken); });
		Try ("TryEnter, 10", () => { bool taken = true; Monitor.TryEnter (o, 10, ref taken); });
		Enter (o, false);
		Try ("Enter, entered", () => Enter (o, true));
		Console.WriteLine (Monitor.IsEntered (o));
	}
}
