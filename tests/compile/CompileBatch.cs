// Compiles many programs in one process, for tests/compile/batch.sh.
//
//   CompileBatch.exe mcs.exe
//
// A line of standard input is an output and mcs's arguments, with tabs between them. Of a program that does not compile, OUTPUT.failed has what mcs
// says.
using System;
using System.IO;
using System.Linq;

static class CompileBatch
{
	static int Main (string[] args)
	{
		var mcs = Compiler.Load (args[0]);
		string line;
		while ((line = Console.ReadLine ()) != null) {
			var words = line.Split ('\t');
			var output = words[0];
			Directory.CreateDirectory (Path.GetDirectoryName (output));
			var messages = new StringWriter ();
			if (mcs (words.Skip (1).Concat (new [] { "-out:" + output }).ToArray (), messages))
				continue;
			File.Delete (output);
			File.WriteAllText (output + ".failed", messages.ToString ());
		}
		return 0;
	}
}
