// Frames of wrappers in traces: of synchronized methods, of methods of a MarshalByRefObject, of delegates with several targets. Lines that say what
// assembly a frame is from are cut.
using System;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;

delegate int OutAndRef (string s, ref int x, out object o);
delegate T Generic<T> (T t, int[] a);

interface IFinal { void Final (); }
class Remote : MarshalByRefObject, IFinal
{
	public Remote () { }
	public Remote (int i) { throw new Exception ("constructor"); }
	public void Plain () { throw new Exception ("plain"); }
	public void Own () { Plain (); }
	public void Final () { throw new Exception ("final"); }
	public virtual void Virtual () { throw new Exception ("virtual"); }
	[MethodImpl (MethodImplOptions.Synchronized)]
	public void Both (int a) { throw new Exception ("both"); }
}

class WrapperFrames
{
	static readonly Remote remote = new Remote ();

	[MethodImpl (MethodImplOptions.Synchronized)]
	static void Static () { throw new Exception ("static"); }
	[MethodImpl (MethodImplOptions.Synchronized)]
	void Instance (int a, string b) { throw new Exception ("instance"); }

	static int Out (string s, ref int x, out object o) { throw new Exception ("out"); }
	static string Of (string t, int[] a) { throw new Exception ("of"); }
	static void Handler (object sender, EventArgs e) { throw new Exception ("handler"); }

	static void Try (Action action)
	{
		try {
			action ();
		} catch (Exception e) {
			Console.WriteLine (e.Message.Split ('\n')[0]);
			foreach (var line in e.StackTrace.Split ('\n').TakeWhile (l => !l.Contains ("WrapperFrames.Try") && !l.Contains ("<Main>")))
				Console.WriteLine (line.Split ('[')[0].TrimEnd () + (line.Contains ("wrapper") && line.Contains ("[") ? line.Substring (line.IndexOf ('[')) : ""));
		}
	}

	static void Main ()
	{
		int x = 0;
		object o;
		Try (() => Static ());
		Try (() => new WrapperFrames ().Instance (1, "b"));
		Try (() => new Remote (1));
		Try (() => { remote.Plain (); Console.WriteLine (); });
		Try (() => { remote.Own (); Console.WriteLine (); });
		Try (() => { remote.Virtual (); Console.WriteLine (); });
		Try (() => { remote.Final (); Console.WriteLine (); });
		Try (() => { ((IFinal) remote).Final (); Console.WriteLine (); });
		Try (() => AppDomain.CurrentDomain.Load ("NoSuchAssembly"));
		Try (() => { remote.Both (1); Console.WriteLine (); });
		OutAndRef several = Out;
		several += Out;
		Try (() => several ("s", ref x, out o));
		Generic<string> generic = Of;
		generic += Of;
		Try (() => generic ("t", null));
		EventHandler handler = Handler;
		handler += Handler;
		Try (() => handler (null, null));
		Action<int> action = i => { throw new Exception ("action"); };
		action += action;
		Try (() => action (1));
		Try (() => File.OpenText ("/nonexistent"));
	}
}
