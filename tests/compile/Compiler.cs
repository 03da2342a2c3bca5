// mcs.exe, loaded as a library: most of what a small program costs is the start of its compiler.
using System;
using System.IO;
using System.Reflection;

static class Compiler
{
	// Compiles as `mcs ARGUMENTS` does. Messages go to the writer, and so does an exception of the compiler's.
	public static Func<string[], TextWriter, bool> Load (string mcs)
	{
		var entry = Assembly.LoadFrom (mcs).GetType ("Mono.CSharp.CompilerCallableEntryPoint", true);
		var invoke = (Func<string[], TextWriter, bool>) Delegate.CreateDelegate (
			typeof (Func<string[], TextWriter, bool>), entry.GetMethod ("InvokeCompiler"));
		return (arguments, messages) => {
			try {
				return invoke (arguments, messages);
			} catch (Exception e) {
				messages.WriteLine (e);
				return false;
			}
		};
	}
}
