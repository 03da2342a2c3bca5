using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

public class Script {
	static int calls;
	static readonly Dictionary<string, object> kept = new Dictionary<string, object> ();
	public readonly string Name;

	public Script () { Name = "script in " + AppDomain.CurrentDomain.FriendlyName; }
	[MethodImpl (MethodImplOptions.InternalCall)] public static extern int Host (object o);

	public static int Update (int round)
	{
		var made = new Script ();
		kept [made.Name + round] = new byte [10000];
		return ++calls * 1000 + Host (made);
	}
	public static string Where () { return AppDomain.CurrentDomain.FriendlyName; }
	public static void Throw () { throw new InvalidOperationException ("in " + AppDomain.CurrentDomain.FriendlyName); }
	public static void Sleeper ()
	{
		var sleeps = new ManualResetEvent (false);
		new Thread (() => { try { sleeps.Set (); Thread.Sleep (100000); } finally { Host (null); } }).Start ();
		sleeps.WaitOne ();
	}
	public static void Refuse () { AppDomain.CurrentDomain.DomainUnload += (s, a) => { if (refuses) throw new Exception ("no"); }; }
	static bool refuses = true;
	public static void Agree () { refuses = false; }
	public static object Me () { return AppDomain.CurrentDomain; }
}
