// tiers: all
// mcs: -optimize+
// Inlined methods whose throwing block is replaced by a second call, while another thread changes what they test: each call
// throws or returns what the method may return, whatever the second call sees.
using System;
using System.Threading;

class Box { public int Value; public volatile int Volatile; public int[] Array = new int [1]; }

unsafe class P {
	static Box box = new Box ();
	static int shared;
	static readonly string text = new string ('b', 4);
	static volatile bool stop;

	static int Field (Box b) { int v = b.Value; if (v == 0) throw new InvalidOperationException (); return v; }
	static int VolatileField (Box b) { int v = b.Volatile; if (v == 0) throw new InvalidOperationException (); return v; }
	static int Static () { int v = shared; if (v == 0) throw new InvalidOperationException (); return v; }
	static int ByRef (ref int r) { int v = r; if (v == 0) throw new InvalidOperationException (); return v; }
	static int Element (int[] a) { int v = a [0]; if (v == 0) throw new InvalidOperationException (); return v; }
	static int Char (string s) { char c = s [0]; if (c == 'a') throw new InvalidOperationException (); return c; }

	static void Change () {
		fixed (char* c = text)
			for (int i = 0; !stop; i++) {
				int v = i & 1;
				box.Value = v; box.Volatile = v; shared = v; box.Array [0] = v;
				*c = (char) ('a' + v);
			}
	}

	static void Check (string name, Func<int, int> round, int expected) {
		int thrown = 0, returned = 0;
		for (int i = 0; i < 100000; i++) {
			try {
				if (round (i) != expected) { Console.WriteLine (name + ": a value it cannot return"); return; }
				returned++;
			} catch (InvalidOperationException) {
				thrown++;
				if (thrown > 300) break;
			}
		}
		Console.WriteLine ("{0}: {1}", name, thrown + returned > 0 ? "ok" : "nothing");
	}

	static void Main () {
		var thread = new Thread (Change);
		thread.Start ();
		Check ("field", i => Field (box), 1);
		Check ("volatile", i => VolatileField (box), 1);
		Check ("static", i => Static (), 1);
		Check ("by ref", i => ByRef (ref box.Value), 1);
		Check ("element", i => Element (box.Array), 1);
		Check ("character", i => Char (text), 'b');
		stop = true;
		thread.Join ();
	}
}
