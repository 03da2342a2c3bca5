using System;
using System.Collections.Generic;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.IO.Pipes;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// What runs on the pool of files: asynchronous streams, anonymous pipes, watching directories; and mapped files.
static class Files
{
	static void Say (string what, object value) { Console.WriteLine ("{0}: {1}", what, value); }
	static void Try (string what, Action a)
	{
		try { a (); Say (what, "ok"); }
		catch (Exception e) { Say (what, e.GetType ().Name); }
	}
	static readonly string directory = Path.Combine (Path.GetTempPath (), "files-test-" + Guid.NewGuid ());
	static readonly string file = Path.Combine (directory, "f");

	static void Streams (bool async)
	{
		var data = Enumerable.Range (0, 100000).Select (i => (byte) (i * 7)).ToArray ();
		using (var s = new FileStream (file, FileMode.Create, FileAccess.ReadWrite, FileShare.None, 4096, async)) {
			s.WriteAsync (data, 0, 50000).Wait ();
			var written = s.BeginWrite (data, 50000, 50000, null, "state");
			s.EndWrite (written);
			s.FlushAsync ().Wait ();
			Say ("written", s.Length + " " + s.IsAsync + " " + written.AsyncState + " " + written.IsCompleted);
			s.Position = 0;
			var read = new byte [data.Length];
			int n = 0, k = 0;
			while (n < read.Length && (k = s.ReadAsync (read, n, Math.Min (7777, read.Length - n)).Result) > 0)
				n += k;
			Say ("read", n + " " + read.SequenceEqual (data));
			s.Position = 10;
			using (var done = new ManualResetEvent (false)) {
				s.BeginRead (read, 0, 100, r => { k = s.EndRead (r); done.Set (); }, null);
				done.WaitOne ();
			}
			Say ("begun and ended", k + " " + read.Take (100).SequenceEqual (data.Skip (10).Take (100)));
			Try ("null", () => s.EndRead (null));
			var copy = new MemoryStream ();
			s.Position = 0;
			s.CopyToAsync (copy).Wait ();
			Say ("copied", copy.Length);
			using (var stop = new CancellationTokenSource ()) {
				stop.Cancel ();
				Say ("cancelled", s.ReadAsync (read, 0, 1, stop.Token).IsCanceled);
			}
		}
	}

	static async Task<int> Lines ()
	{
		using (var w = new StreamWriter (file))
			for (int i = 0; i < 1000; i++)
				await w.WriteLineAsync ("line " + i);
		int count = 0;
		string line;
		using (var r = new StreamReader (file))
			while ((line = await r.ReadLineAsync ()) != null)
				if (line == "line " + count)
					count++;
		return count;
	}

	static void Pipes ()
	{
		using (var server = new AnonymousPipeServerStream (PipeDirection.Out))
		using (var client = new AnonymousPipeClientStream (PipeDirection.In, server.GetClientHandleAsString ())) {
			var writer = Task.Run (() => {
				using (var w = new StreamWriter (server))
					for (int i = 0; i < 5000; i++)
						w.WriteLine (i);
			});
			int count = 0;
			using (var r = new StreamReader (client))
				while (r.ReadLine () != null)
					count++;
			writer.Wait ();
			Say ("through a pipe", count);
		}
	}

	static void Maps ()
	{
		using (var m = MemoryMappedFile.CreateFromFile (file, FileMode.Open)) using (var v = m.CreateViewAccessor ()) {
			v.Write (0, 0x41424344);
			Say ("mapped", v.ReadInt32 (0).ToString ("x"));
		}
		Say ("in the file", File.ReadAllBytes (file) [0]);
		var name = "map-" + Guid.NewGuid ();
		using (var m = MemoryMappedFile.CreateNew (name, 4096)) using (var same = MemoryMappedFile.OpenExisting (name))
		using (var a = m.CreateViewAccessor ()) using (var b = same.CreateViewStream ()) {
			a.Write (8, (byte) 77);
			b.Position = 8;
			Say ("two views", b.ReadByte ());
		}
		Try ("no such map", () => MemoryMappedFile.OpenExisting (name + "-none"));
	}

	static readonly List<string> log = new List<string> ();
	static void Add (string what)
	{
		lock (log) {
			log.Add (what);
			Monitor.PulseAll (log);
		}
	}
	static bool Seen (string what)
	{
		var end = DateTime.UtcNow.AddSeconds (20);
		lock (log)
			while (!log.Contains (what)) {
				var left = end - DateTime.UtcNow;
				if (left <= TimeSpan.Zero)
					return false;
				Monitor.Wait (log, left);
			}
		return true;
	}

	static void Watch ()
	{
		using (var w = new FileSystemWatcher (directory) { IncludeSubdirectories = true }) {
			w.Created += (s, e) => Add ("created " + e.Name);
			w.Deleted += (s, e) => Add ("deleted " + e.Name);
			w.Changed += (s, e) => Add ("changed " + e.Name);
			w.EnableRaisingEvents = true;
			File.WriteAllText (Path.Combine (directory, "new"), "x");
			Say ("created", Seen ("created new") + " " + Seen ("changed new"));
			File.Delete (Path.Combine (directory, "new"));
			Say ("deleted", Seen ("deleted new"));
			Directory.CreateDirectory (Path.Combine (directory, "sub"));
			Say ("directory", Seen ("created sub"));
			w.EnableRaisingEvents = false;
			lock (log)
				log.Clear ();
			File.WriteAllText (Path.Combine (directory, "quiet"), "x");
			Thread.Sleep (50);
			Say ("switched off", log.Count);
			Say ("timed out", w.WaitForChanged (WatcherChangeTypes.Deleted, 20).TimedOut);
		}
		Try ("no directory", () => new FileSystemWatcher (directory + "-none"));
	}

	static void Main ()
	{
		Directory.CreateDirectory (directory);
		try {
			Streams (false);
			Streams (true);
			Say ("lines", Lines ().Result);
			Pipes ();
			Maps ();
			Watch ();
		} finally {
			Directory.Delete (directory, true);
		}
	}
}
