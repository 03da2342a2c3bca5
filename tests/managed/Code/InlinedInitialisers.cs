// tiers: all
// mcs: -optimize+
// A class constructor that runs between a read and the test of what was read, in a method that is inlined with its
// throwing block out of line: the exception is not lost, whatever the constructor writes.
using System;
using System.Runtime.CompilerServices;

static class State { public static int Value; public static object Reference; public static string Log = ""; }

class ByField { public static int X; static ByField () { State.Value = 1; } }
class ByFieldAddress { public static int X; static ByFieldAddress () { State.Value = 1; } }
class ByCall { static ByCall () { State.Value = 1; } public static int Get () { return 0; } }
class ByLazyField { public static int X = Set (); static int Set () { State.Value = 1; return 0; } }
class ByNew { public int X; static ByNew () { State.Value = 1; } }
struct ByStruct { public int X; static ByStruct () { State.Value = 1; } public static int Get () { return 0; } }
class ByGeneric<T> { public static int X; static ByGeneric () { State.Value = 1; } }
class ByNested { static ByNested () { State.Log += "n"; } public static int Get () { return ByField2.X; } }
class ByField2 { public static int X; static ByField2 () { State.Value = 1; } }
class Own { static Own () { State.Value = 1; } public static int Check () { int v = State.Value; if (v == 0) throw new Exception ("own"); return v; } }

class P {
	static int Field () { int v = State.Value + ByField.X; if (v == 0) throw new Exception ("field"); return v; }
	static int Field2 () { int v = State.Value; ByFieldAddress.X = 0; if (v == 0) throw new Exception ("store"); return v; }
	static int Address () { int v = State.Value + Through (ref ByFieldAddress.X); if (v == 0) throw new Exception ("address"); return v; }
	static int Through (ref int x) { return x; }
	static int Call () { int v = State.Value + ByCall.Get (); if (v == 0) throw new Exception ("call"); return v; }
	static int Lazy () { int v = State.Value + ByLazyField.X; if (v == 0) throw new Exception ("lazy"); return v; }
	static int Struct () { int v = State.Value + ByStruct.Get (); if (v == 0) throw new Exception ("struct"); return v; }
	static int Generic () { int v = State.Value + ByGeneric<string>.X; if (v == 0) throw new Exception ("generic"); return v; }
	static int Nested () { int v = State.Value + ByNested.Get (); if (v == 0) throw new Exception ("nested"); return v; }
	static int Argument (int a) { int b = State.Value + a; if (ByLate.X + b == 0) throw new Exception ("argument"); return b; }
	class ByLate { public static int X; static ByLate () { State.Value = 5; } }

	static void Try (string name, Func<int> f) {
		State.Value = 0;
		try { Console.WriteLine ("{0}: {1}", name, f ()); }
		catch (Exception e) { Console.WriteLine ("{0}: threw {1}", name, e.Message); }
		try { Console.WriteLine ("{0} again: {1}", name, f ()); }
		catch (Exception e) { Console.WriteLine ("{0} again: threw {1}", name, e.Message); }
	}

	static void Main () {
		Try ("field", () => Field ());
		Try ("address", () => Address ());
		Try ("call", () => Call ());
		Try ("struct", () => Struct ());
		Try ("generic", () => Generic ());
		Try ("nested", () => Nested ());
		Try ("argument", () => Argument (0));
		Try ("own", () => Own.Check ());
	}
}
