// Traces show mono's wrappers in which exceptions arise, or which pass a call on: stores to arrays, new arrays, constructors of String, and interfaces of arrays of values.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;

abstract class Base { }
class C1 : Base { }
class C2 : C1 { }
class C3 : C2 { }
class C4 : C3 { }
class C5 : C4 { }
class Remote : MarshalByRefObject { }
sealed class Sealed { }
interface IFace { }
struct V { }

class P {
	static void Try (string name, Action action) {
		try { action (); Console.WriteLine (name + ": returned"); }
		catch (Exception e) {
			Console.WriteLine (name + ": " + e.GetType () + ": " + e.Message);
			foreach (var line in e.StackTrace.Split ('\n')) {
				if (line.Contains ("P.Try") || line.Contains ("<Main>"))
					break;
				Console.WriteLine (line.Split (new[] { " [0x" }, StringSplitOptions.None)[0]);
			}
		}
	}

	[MethodImpl (MethodImplOptions.NoInlining)] static void Store (object[] a, object v) { a[0] = v; }
	[MethodImpl (MethodImplOptions.NoInlining)] static void Store2 (object[,] a, object v) { a[0, 0] = v; }
	[MethodImpl (MethodImplOptions.NoInlining)] static void StoreGeneric<T> (T[] a, T v) { a[0] = v; }
	[MethodImpl (MethodImplOptions.NoInlining)] static object Generic<T> (int n) { return new T[n]; }
	[MethodImpl (MethodImplOptions.NoInlining)]
	static object New (int rank, int n) {
		switch (rank) {
		case 1: return new int[n];
		case 2: return new int[n, 1];
		case 3: return new int[1, n, 1];
		case 4: return new string[1, 1, 1, n];
		case 5: return new int[1, 1, 1, 1, n];
		default: return new long[n][];
		}
	}
	[MethodImpl (MethodImplOptions.NoInlining)]
	static unsafe string NewString (int k) {
		switch (k) {
		case 0: return new string (new char[1], 0, 5);
		case 1: return new string ('c', -1);
		case 2: return new string ((char*) 0, 1, 2);
		case 3: return new string ((sbyte*) 0, 1, 2);
		default: return new string ((sbyte*) 5, -1, 2, null);
		}
	}
	[MethodImpl (MethodImplOptions.NoInlining)] static void SetItem (IList<int> list) { list[3] = 1; }
	[MethodImpl (MethodImplOptions.NoInlining)] static int GetItem (IReadOnlyList<int> list) { return list[3]; }
	[MethodImpl (MethodImplOptions.NoInlining)] static void Add<T> (ICollection<T> list) { list.Add (default (T)); }
	[MethodImpl (MethodImplOptions.NoInlining)] static void CopyTo<T> (ICollection<T> list) { list.CopyTo (null, 0); }
	[MethodImpl (MethodImplOptions.NoInlining)] static void RemoveAt<T> (IList<T> list) { list.RemoveAt (0); }

	static void Main () {
		foreach (var a in new object[][] { new string[1], new Base[1], new C1[1], new C3[1], new C4[1], new C5[1], new Remote[1], new Sealed[1], new IFace[1],
				new IComparable<int>[1], new IEnumerable<string>[1], new IList<int>[1], new Action[1], new Action<int>[1], new int[1][], new int[1][,], new string[1][], new string[1][,], new object[1][],
				new List<int>[1], new List<string>[1], new Array[1], new Delegate[1], new Type[1], new MemoryStream[1], new IDisposable[1] })
			Try ("store to " + a.GetType (), () => Store (a, new V ()));
		Try ("generic store", () => StoreGeneric<object> (new string[1], 1));
		Try ("store to two dimensions", () => Store2 (new string[1, 1], 1));
		for (int i = 1; i <= 6; i++) {
			int rank = i;
			Try ("new array, " + i, () => New (rank, -1));
		}
		Try ("generic array", () => Generic<int> (-1));
		Try ("generic array of references", () => Generic<string> (-1));
		for (int i = 1; i < 5; i++) {
			int k = i;
			Try ("string " + i, () => NewString (k));
		}
		Try ("set_Item", () => SetItem (new int[1]));
		Try ("get_Item", () => GetItem (new int[1]));
		Try ("Add of a string[]", () => Add (new string[1]));
		Try ("CopyTo", () => CopyTo (new DayOfWeek[1]));
		Try ("RemoveAt", () => RemoveAt (new int[1]));
		try {
			try { Store (new string[1], 1); }
			catch (ArrayTypeMismatchException) { throw; }
		} catch (Exception e) { Console.WriteLine (e.StackTrace.Split ('\n')[0]); }
	}
}
