// cc: -lc
// As in mono, a native function returns what the managed one does, whether or not PreserveSig is declared: nothing is an HRESULT, and there is no last argument for the result.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

class P {
	[DllImport ("FailedResults", EntryPoint = "fail", PreserveSig = false)] static extern void Fail (int hresult);
	[DllImport ("FailedResults", EntryPoint = "fail", PreserveSig = false)] static extern int Failed (int hresult);
	[DllImport ("FailedResults", EntryPoint = "fail", PreserveSig = false)] static extern uint FailedUnsigned (int hresult);
	[DllImport ("FailedResults", EntryPoint = "half", PreserveSig = false)] static extern double Half (double x);
	[DllImport ("FailedResults", EntryPoint = "text", PreserveSig = false)] static extern IntPtr Text ();

	static void Main () {
		foreach (var result in new uint[] { 0, 1, 0x80004005, 0x80070057 }) {
			int hresult = unchecked ((int) result);
			Fail (hresult);
			Console.WriteLine ("{0:x} {1:x} {2:x}", result, Failed (hresult), FailedUnsigned (hresult));
		}
		Console.WriteLine (Half (3));
		Console.WriteLine (Marshal.PtrToStringAnsi (Text ()));

		// DefinePInvokeMethod declares no PreserveSig.
		var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName ("d"), AssemblyBuilderAccess.Run);
		var type = assembly.DefineDynamicModule ("d").DefineType ("T", TypeAttributes.Public);
		type.DefinePInvokeMethod ("abs", "libc", MethodAttributes.Public | MethodAttributes.Static | MethodAttributes.PinvokeImpl, CallingConventions.Standard,
			typeof (int), new[] { typeof (int) }, CallingConvention.Cdecl, CharSet.Ansi);
		var method = type.CreateType ().GetMethod ("abs");
		Console.WriteLine (method.GetMethodImplementationFlags () + " " + method.Invoke (null, new object[] { -7 }));
	}
}
// expect: 0 0 0
// expect: 1 1 1
// expect: 80004005 80004005 80004005
// expect: 80070057 80070057 80070057
// expect: 1.5
// expect: text
// expect: Managed 7
