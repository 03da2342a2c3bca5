using System;

namespace Thunks {
	public class Node {
		public Node Next; public int Value;
		static int calls;
		public Node Push (int value) { calls++; return new Node { Next = this, Value = value }; }
		public static Node Make (int value, Node next) { return new Node { Next = next, Value = value }; }
		public int Sum () { int s = 0; for (var n = this; n != null; n = n.Next) s += n.Value; return s; }
		public static long Five (int a, long b, object c, uint d, IntPtr e) { return a + b + (c == null ? 0 : 1) + d + (long) e; }
		public static bool IsSmall (byte a, short b) { return a + b < 100; }
		public static void Store (ref int at, int value) { at = value; }
		public static Node Throw (int depth) { if (depth == 0) throw new InvalidOperationException ("thrown"); return Throw (depth - 1); }
		public static int Deep (int n) { return n == 0 ? 0 : 1 + Deep (n - 1); }
		static int kept;
		public static void Keep (int value) { kept = value; }
		public static int Kept () { return kept; }
		public static int Calls () { return calls; }
		public static string Where () { return AppDomain.CurrentDomain.FriendlyName; }
		public static int Again (IntPtr f, int depth) { return ((Callback) System.Runtime.InteropServices.Marshal.GetDelegateForFunctionPointer (f, typeof (Callback))) (depth); }
		delegate int Callback (int depth);
	}
}
