// The IL offsets of calls in traces where no statement begins: behind a delegate that is made for an argument, where paths join with values
// on the stack, behind a call.
using System;
using System.Collections.Generic;
using System.Linq;

class Base { public virtual void Virtual () { } public void Plain () { } }

class Generic<T>
{
	public static void Comparison (IComparer<T> c) { JoinOffsets.Throw (3, new Comparison<T> (c.Compare)); }
}

class JoinOffsets
{
	public static void Throw (int a, object o) { if (a > 0) throw new Exception (); Console.WriteLine (a); }

	static void Virtual (Base b) { Throw (1, new Action (b.Virtual)); }
	static void Plain (Base b) { Throw (1, new Action (b.Plain)); }
	static void Interface (IDisposable d) { Throw (1, new Action (d.Dispose)); }
	static void Cached () { Throw (1, (Action) (() => { })); }
	static void Text () { Throw (1, new string ('x', 3)); }
	static void Join (string s) { Throw (1, s == null ? "none" : s.Trim ()); Console.WriteLine (); }
	static void Coalesce (string s) { Throw (1, s ?? s.Trim ()); Console.WriteLine (); }
	static void Choose (string s) { throw s == null ? new ArgumentNullException ("s") : new Exception (); }
	static void InHandler () { try { Throw (1, null); } catch (Exception e) { Throw (2, new Func<string> (e.ToString)); } }

	static void Try (Action action)
	{
		try {
			action ();
		} catch (Exception e) {
			var line = e.StackTrace.Split ('\n').First (l => !l.Contains ("JoinOffsets.Throw"));
			Console.WriteLine (line.Substring (0, line.LastIndexOf (" in ")));
		}
	}

	static void Main ()
	{
		Try (() => Virtual (new Base ()));
		Try (() => Plain (new Base ()));
		Try (() => Interface (new System.IO.MemoryStream ()));
		Try (Cached);
		Try (Text);
		Try (() => Join (null));
		Try (() => Join ("s"));
		Try (() => Coalesce ("s"));
		Try (() => Choose (null));
		Try (() => Choose ("s"));
		Try (InHandler);
		Try (() => Generic<string>.Comparison (Comparer<string>.Default));
		Try (() => Generic<int>.Comparison (Comparer<int>.Default));
	}
}
