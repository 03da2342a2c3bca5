// cc: -lc
// What has no native form: classes of automatic layout, interfaces, arrays of such. Null has one, 0. In structs the fields of any class lie in place, null leaves them alone, and an
// object is refused when it is met, not before.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

interface IFace { }
class Automatic { public int a; }
class Empty { }
class Derived : Automatic { public byte b; }
[StructLayout (LayoutKind.Sequential)] class Formatted { public long a = 7; public string s; }
[StructLayout (LayoutKind.Sequential)] class OfEmpty : Empty { public int a; public byte b; }
struct WithObject { public object o; public long x, y, z; }
struct WithInterface { public IFace o; public long x, y, z; }
struct WithArray { public int[] o; public long x, y, z; }
struct WithStrings { public string[] o; public long x, y, z; }
struct WithAutomatic { public Automatic o; public long x, y, z; }
struct WithList { public List<int> o; public long x, y, z; }
struct WithFormatted { public Formatted o; public long x, y; }
struct WithType { public Type o; public long x, y, z; }
struct Sizes1 { public object o; public byte b; }
struct Sizes2 { public Automatic o; public byte b; }
struct Sizes3 { public Derived o; public byte b; }
struct Sizes4 { public byte a; public Empty o; public byte b; }
struct Sizes5 { public List<object> o; public byte b; }
struct Sizes6 { public OfEmpty o; public byte b; }

class P {
	const string L = "Formless";
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithObject x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithInterface x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithArray x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithStrings x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithAutomatic x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithList x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithFormatted x);
	[DllImport (L, EntryPoint = "words")] static extern int Words (WithType x);
	[DllImport (L, EntryPoint = "first")] static extern int First (ref WithObject x);
	[DllImport (L, EntryPoint = "first")] static extern int First (ref WithArray x);
	[DllImport (L, EntryPoint = "first")] static extern int First (ref WithAutomatic x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (object x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (IFace x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (Automatic x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (Empty x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (Array x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (List<int> x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (Type x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (object[] x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (Automatic[] x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (Action[] x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (DateTime[] x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (int[][] x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (CriticalHandle x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNull (SafeHandle x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNullInterface ([MarshalAs (UnmanagedType.Interface)] object x);
	[DllImport (L, EntryPoint = "is_null")] static extern int IsNullVariant ([MarshalAs (UnmanagedType.Struct)] object x);
	[DllImport (L, EntryPoint = "is_cell_null")] static extern int IsCellNull (ref Automatic x);
	[DllImport (L, EntryPoint = "is_cell_null")] static extern int IsCellNull (ref List<int> x);
	[DllImport (L, EntryPoint = "is_cell_null")] static extern int IsCellNull (ref Automatic[] x);
	[DllImport (L, EntryPoint = "same")] static extern object Object (IntPtr x);
	[DllImport (L, EntryPoint = "same")] static extern IFace Interface (IntPtr x);
	[DllImport (L, EntryPoint = "same")] static extern Automatic AutomaticOf (IntPtr x);
	[DllImport (L, EntryPoint = "same")] static extern int[] Ints (IntPtr x);
	[DllImport (L, EntryPoint = "same")] static extern string[] Strings (IntPtr x);

	static void Try (string name, Func<object> action) {
		try { Console.WriteLine (name + ": " + (action () ?? "null")); }
		catch (Exception e) { Console.WriteLine (name + ": " + e.GetType () + ": " + e.Message); }
	}

	static void Main () {
		Try ("object, null", () => Words (new WithObject { x = 1, y = 2, z = 3 }));
		Try ("object, 1", () => Words (new WithObject { o = 1, x = 1, y = 2, z = 3 }));
		Try ("interface", () => Words (new WithInterface { x = 1, y = 2, z = 3 }));
		Try ("array", () => Words (new WithArray { x = 1, y = 2, z = 3 }));
		Try ("strings", () => Words (new WithStrings { x = 1, y = 2, z = 3 }));
		Try ("automatic, null", () => Words (new WithAutomatic { x = 1, y = 2, z = 3 }));
		Try ("automatic", () => Words (new WithAutomatic { o = new Automatic (), x = 1, y = 2, z = 3 }));
		Try ("list, null", () => Words (new WithList { z = 3 }));
		Try ("list", () => Words (new WithList { o = new List<int> () }));
		Try ("formatted, null", () => Words (new WithFormatted { x = 1, y = 2 }));
		Try ("formatted", () => Words (new WithFormatted { o = new Formatted (), x = 1, y = 2 }));
		Try ("type, null", () => Words (new WithType { x = 1, y = 2, z = 3 }));
		Try ("type", () => Words (new WithType { o = typeof (int) }));
		Try ("ref object", () => { var x = new WithObject { x = 1 }; return First (ref x) + " " + x.o + x.x; });
		Try ("ref array", () => { var x = new WithArray { x = 1 }; return First (ref x); });
		Try ("ref automatic", () => { var x = new WithAutomatic { x = 1 }; return First (ref x); });

		Try ("object", () => IsNull ((object) null));
		Try ("IFace", () => IsNull ((IFace) null));
		Try ("Automatic, null", () => IsNull ((Automatic) null));
		Try ("Automatic", () => IsNull (new Automatic ()));
		Try ("Derived", () => IsNull (new Derived ()));
		Try ("Empty, null", () => IsNull ((Empty) null));
		Try ("Empty", () => IsNull (new Empty ()));
		Try ("Array, null", () => IsNull ((Array) null));
		Try ("Array", () => IsNull ((Array) new int[1]));
		Try ("List, null", () => IsNull ((List<int>) null));
		Try ("List", () => IsNull (new List<int> ()));
		Try ("Type, null", () => IsNull ((Type) null));
		Try ("Type", () => IsNull (typeof (int)));
		Try ("object[], null", () => IsNull ((object[]) null));
		Try ("Automatic[], null", () => IsNull ((Automatic[]) null));
		Try ("Automatic[0]", () => IsNull (new Automatic[0]));
		Try ("Automatic[1]", () => IsNull (new Automatic[1]));
		Try ("Action[1]", () => IsNull (new Action[1]));
		Try ("DateTime[], null", () => IsNull ((DateTime[]) null));
		Try ("DateTime[1]", () => IsNull (new DateTime[1]));
		Try ("int[][], null", () => IsNull ((int[][]) null));
		Try ("CriticalHandle, null", () => IsNull ((CriticalHandle) null));
		Try ("SafeHandle, null", () => IsNull ((SafeHandle) null));
		Try ("as interface", () => IsNullInterface (null));
		Try ("as variant", () => IsNullVariant (null));
		Try ("ref Automatic, null", () => { Automatic x = null; return IsCellNull (ref x) + " " + (x == null); });
		Try ("ref Automatic", () => { var x = new Automatic (); return IsCellNull (ref x); });
		Try ("ref List, null", () => { List<int> x = null; return IsCellNull (ref x) + " " + (x == null); });
		Try ("ref Automatic[], null", () => { Automatic[] x = null; return IsCellNull (ref x) + " " + (x == null); });

		Try ("result object", () => Object (IntPtr.Zero));
		Try ("result interface", () => Interface (IntPtr.Zero));
		Try ("result class", () => AutomaticOf (IntPtr.Zero));
		Try ("result int[]", () => Ints (IntPtr.Zero));
		Try ("result string[]", () => Strings (IntPtr.Zero));

		foreach (var type in new[] { typeof (Sizes1), typeof (Sizes2), typeof (Sizes3), typeof (Sizes4), typeof (Sizes5), typeof (Sizes6), typeof (WithArray), typeof (OfEmpty) }) {
			Try (type.Name, () => Marshal.SizeOf (type) + " " + (type.GetField ("b") != null ? Marshal.OffsetOf (type, "b") + "" : ""));
			Try (type.Name + " to native", () => {
				var p = Marshal.AllocHGlobal (100);
				for (int i = 0; i < 100; i++)
					Marshal.WriteByte (p, i, 0);
				var o = Activator.CreateInstance (type);
				if (type.GetField ("b") != null)
					type.GetField ("b").SetValue (o, (byte) 7);
				Marshal.StructureToPtr (o, p, false);
				string bytes = "";
				for (int i = 0; i < Marshal.SizeOf (type); i++)
					bytes += Marshal.ReadByte (p, i);
				Marshal.FreeHGlobal (p);
				return bytes;
			});
		}
	}
}
