// tiers: all
// What runs the static constructor of a value type that is precise (no beforefieldinit).
using System;

static class Log { public static string Text = ""; }
interface I { int Get (); }
struct A : I { public int X; public static int S; static A () { Log.Text += " A"; }
	public A (int x) { X = x; } public int Get () { return X; } public static int Static () { return 1; } public int Prop { get { return X; } }
	public override string ToString () { return "a"; } }
struct B : I { public int X; public static int S; static B () { Log.Text += " B"; }
	public B (int x) { X = x; } public int Get () { return X; } public override string ToString () { return "b"; } public override int GetHashCode () { return 4; } }
struct D : I { public int X; public static int S; static D () { Log.Text += " D"; }
	public D (int x) { X = x; } public int Get () { return X; } }
struct E : I { public int X; public static int S; static E () { Log.Text += " E"; }
	public E (int x) { X = x; } public int Get () { return X; } }
struct F : I { public int X; public static int S; static F () { Log.Text += " F"; } public int Get () { return X; } public void Set (int v) { X = v; } }
struct G : I { public int X; public static int S; static G () { Log.Text += " G"; } public int Get () { return X; } public override bool Equals (object o) { return true; } public override int GetHashCode () { return 3; } }
struct H<T> { public T X; static H () { Log.Text += " H" + typeof (T).Name; } public T Get () { return X; } }
struct J { public int X; static J () { Log.Text += " J"; } public int Big () { int s = 0; for (int i = 0; i < 10; i++) s += i * X; return s; } }
struct K { public int X; static K () { Log.Text += " K"; } public int Deep () { return Inner (); } int Inner () { return X; } }
enum En { P }
struct T1 { public int X; static T1 () { Log.Text += " T1"; throw new Exception ("broken"); } public int Get () { return X; } }
struct L { public int X; static L () { Log.Text += " L"; } public int Get () { return X; } }
class W { public static int S; public int X; static W () { Log.Text += " W"; } public int Get () { return X; } }

class P {
	static void Say (string what) { Console.WriteLine ("{0}:{1}", what, Log.Text); Log.Text = ""; }
	static string Use<T> (T t) { return t.ToString (); }
	static int Call<T> (T t) where T : I { return t.Get (); }
	static A fa; static A[] arr = new A [3];
	static void Main () {
		A a = default (A); a.X = 5; Say ("default and field");
		int r = a.X; Say ("ldfld");
		object o = a; Say ("box");
		A a2 = (A) o; Say ("unbox");
		fa = a; arr [1] = fa; Say ("copies");
		r += a.Get (); Say ("instance method");
		B b = new B (3); Say ("constructor");
		object ob = default (B); ob.ToString (); Say ("virtual after constructor");
		D d = default (D); r += ((I) d).Get (); Say ("interface call on a box");
		E e = default (E); Func<int> f = e.Get; Say ("delegate made"); r += f (); Say ("delegate called");
		F ff = default (F); ff.Set (3); Say ("setter");
		object g = default (G); g.Equals (null); Say ("virtual on a box");
		H<int> h = default (H<int>); Say ("generic default"); h.Get (); Say ("generic method");
		H<string> hs = default (H<string>); hs.Get (); Say ("generic method over references");
		J j = default (J); j.Big (); Say ("method with a loop");
		K k = default (K); k.Deep (); Say ("method that calls another");
		r += Call (default (L2)); Say ("constrained");
		L l = default (L); typeof (L).GetMethod ("Get").Invoke (l, null); Say ("reflection");
		T1 t = default (T1);
		try { t.Get (); Say ("not thrown"); } catch (TypeInitializationException x) { Say ("thrown " + x.InnerException.Message); }
		try { t.Get (); Say ("not thrown"); } catch (TypeInitializationException x) { Say ("thrown again " + x.InnerException.Message); }
		try { t.GetHashCode (); Say ("inherited: not thrown"); } catch (TypeInitializationException x) { Say ("inherited: thrown " + x.InnerException.Message); }
	}
	struct L2 : I { static L2 () { Log.Text += " L2"; } public int Get () { return 2; } }
}
