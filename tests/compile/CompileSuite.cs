// The compiler of mcs/tests: compiles programs named on standard input in one process, with mcs.exe loaded as a library.
//
//   CompileSuite.exe mcs.exe        (in the folder of the suite)
//
// A program is compiled as the suite's own driver does it: with the options that all have, those of its first three lines
// (`// Compiler options:`), and after what it refers to, if that is a source of the suite (`-r:x.dll`, `-addmodule:x.netmodule`,
// `// Dependencies:`). What exists is kept. Of one that does not compile, NAME.failed has the compiler's messages.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

static class CompileSuite
{
	static readonly string[] common = { "-nologo", "-d:NET_4_0;NET_4_5", "-debug" };
	const string references = "/usr/lib/mono/4.5";

	static Func<string[], TextWriter, bool> compiler;
	static readonly HashSet<string> seen = new HashSet<string> ();

	static int Main (string[] args)
	{
		compiler = Compiler.Load (args[0]);
		string source;
		while ((source = Console.ReadLine ()) != null)
			Compile (source);
		return 0;
	}

	// The value of `// KEY: value` in the first three lines.
	static IEnumerable<string> Header (string source, string key)
	{
		foreach (var line in File.ReadLines (source).Take (3)) {
			if (!line.StartsWith ("//", StringComparison.Ordinal))
				continue;
			var text = line.Substring (2).TrimStart ();
			if (!text.StartsWith (key, StringComparison.Ordinal))
				continue;
			foreach (var word in text.Substring (key.Length).Split (new [] { ' ', '\t' }, StringSplitOptions.RemoveEmptyEntries))
				yield return word.Replace ("$REF_DIR/Mono.Cecil.dll", Cecil ()).Replace ("$REF_DIR", references);
		}
	}

	// The class library's folder has no Mono.Cecil in Debian; the GAC has.
	static string Cecil ()
	{
		return Directory.GetDirectories ("/usr/lib/mono/gac/Mono.Cecil", "0.11*").Select (d => Path.Combine (d, "Mono.Cecil.dll")).First ();
	}

	static void Compile (string source)
	{
		if (!seen.Add (source))
			return;
		var stem = Path.ChangeExtension (source, null);
		var options = Header (source, "Compiler options:").ToArray ();
		if (new [] { ".exe", ".dll", ".netmodule", ".failed" }.Any (extension => File.Exists (stem + extension)))
			return;
		// A few programs open a library of theirs, `x-2-lib.dll`, that they do not refer to.
		var libraries = Directory.GetFiles (".", stem + "-*lib.cs").Select (Path.GetFileName);
		foreach (var first in Header (source, "Dependencies:").Concat (options.SelectMany (Referred)).Concat (libraries).Where (File.Exists))
			Compile (first);

		var messages = new StringWriter ();
		var arguments = common.Concat (new [] { source }).Concat (options).ToArray ();
		if (!compiler (arguments, messages))
			File.WriteAllText (stem + ".failed", messages.ToString ());
	}

	// The sources of what an option refers to.
	static IEnumerable<string> Referred (string option)
	{
		var name = option.TrimStart ('-', '/');
		var colon = name.IndexOf (':');
		if (colon < 0 || !new [] { "r", "reference", "addmodule" }.Contains (name.Substring (0, colon)))
			return Enumerable.Empty<string> ();
		return name.Substring (colon + 1).Split (';', ',').Select (file => Path.ChangeExtension (file.Substring (file.IndexOf ('=') + 1), ".cs"));
	}
}
