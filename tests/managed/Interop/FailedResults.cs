// cc: -lc
// A native function that is declared with PreserveSig=false: its result is an HRESULT. A failed one is the exception that
// Marshal.ThrowExceptionForHR throws. (Mono 6.8 ignores PreserveSig here; this is .NET's behaviour.)
using System;
using System.Runtime.InteropServices;

class P {
	[DllImport ("FailedResults", EntryPoint = "fail", PreserveSig = false)] static extern void Fail (int hresult);
	[DllImport ("FailedResults", EntryPoint = "answer", PreserveSig = false)] static extern int Answer (int hresult);

	static string Try (Action action) {
		try { action (); return "returned"; }
		catch (Exception e) { return String.Format ("{0} {1:x} {2}", e.GetType ().Name, e.HResult, e.Message); }
	}

	static void Main () {
		uint[] results = { 0, 1, 0x80004005, 0x80070057, 0x8007000E, 0x80004001, 0x80004002, 0x80131501, 0x80070005, 0x80004003, 0x80070002, 0x80012345 };
		foreach (var result in results) {
			int hresult = unchecked ((int) result);
			string expected = Try (() => Marshal.ThrowExceptionForHR (hresult)), got = Try (() => Fail (hresult));
			Console.WriteLine ("{0:x}: {1}", result, got == expected ? got.Split (' ') [0] : "different: " + got + " for " + expected);
		}
		Console.WriteLine (Answer (0));
		Console.WriteLine (Try (() => Answer (unchecked ((int) 0x80004001))).Split (' ') [0]);
		GC.KeepAlive (results);
	}
}
// expect: 0: returned
// expect: 1: returned
// expect: 80004005: COMException
// expect: 80070057: ArgumentException
// expect: 8007000e: OutOfMemoryException
// expect: 80004001: NotImplementedException
// expect: 80004002: InvalidCastException
// expect: 80131501: SystemException
// expect: 80070005: COMException
// expect: 80004003: NullReferenceException
// expect: 80070002: FileNotFoundException
// expect: 80012345: COMException
// expect: 42
// expect: NotImplementedException
