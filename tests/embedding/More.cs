using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Permissions;

namespace More {
	[AttributeUsage (AttributeTargets.All)] public class NoteAttribute : Attribute { public NoteAttribute (string s) { Text = s; } public string Text; public int Level; }
	[StructLayout (LayoutKind.Sequential)] public struct Record {
		public int Number;
		[MarshalAs (UnmanagedType.ByValTStr, SizeConst = 12)] public string Name;
		[MarshalAs (UnmanagedType.ByValArray, SizeConst = 4, ArraySubType = UnmanagedType.I2)] public short[] Items;
		[MarshalAs (UnmanagedType.CustomMarshaler, MarshalType = "More.Wrapper", MarshalCookie = "sweet")] public object Wrapped;
	}
	[Note ("kept", Level = 3)] public class Kept {
		public volatile int Flag;
		public int[,] Grid;
		public static readonly int[] Table = { 1, 2, 3, 4 };
		public List<string> Names = new List<string> ();
		public static int Add (int a, int b) { return a + b; }
		public static T Same<T> (T x) { return x; }
		public static string Join (string[] all, ref int count, out object last) { count = all.Length; last = all [count - 1]; return string.Join (",", all); }
		public static void Native ([MarshalAs (UnmanagedType.LPWStr)] string text, [MarshalAs (UnmanagedType.LPArray, SizeParamIndex = 0)] int[] a) { }
		[PermissionSet (SecurityAction.Demand, Unrestricted = true)] [SecurityPermission (SecurityAction.LinkDemand, UnmanagedCode = true)] public static void Guarded () { }
		public static int Steps (int n)
		{
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += i;
			try { if (n > 5) throw new Exception ("many"); }
			catch (Exception) { sum = -1; }
			return sum;
		}
		public static void Walk () { Walked (); }
		[MethodImpl (MethodImplOptions.InternalCall)] static extern void Walked ();
		public static WeakReference Drop () { return null; }
	}
	[SecurityPermission (SecurityAction.InheritanceDemand, Execution = true)] public class Secure { }
	public class Box<T> where T : class { public T Value; public U Convert<U> (T x) { return default (U); } }
	public class Remote : MarshalByRefObject { public int Field = 5; public string Text = "far"; }
	public static class Libs { [DllImport ("made-up")] public static extern int made_up (int x); public static int Call (int x) { try { return made_up (x); } catch (Exception e) { Console.WriteLine (e.GetType ().Name); return -1; } } }
}
