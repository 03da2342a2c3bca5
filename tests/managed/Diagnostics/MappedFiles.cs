// Memory-mapped files: which ways to open a file allow which views, which offsets and sizes a view may have, and what becomes of files that
// are there, or not, by mode and capacity.
using System;
using System.IO;
using System.IO.MemoryMappedFiles;

class P {
	static string directory;

	static void Try (string name, Func<object> action) {
		try { Console.WriteLine (name + ": " + action ()); }
		catch (Exception e) { Console.WriteLine (name + ": " + e.GetType () + ": " + e.Message.Replace ("\n", "|").Replace (directory, "")); }
	}

	static void Main () {
		directory = Path.Combine (Path.GetTempPath (), "mapped" + System.Diagnostics.Process.GetCurrentProcess ().Id) + "/";
		Directory.CreateDirectory (directory);
		string file = directory + "a", other = directory + "b";
		File.WriteAllText (file, "0123456789");

		foreach (MemoryMappedFileAccess opened in Enum.GetValues (typeof (MemoryMappedFileAccess)))
			foreach (MemoryMappedFileAccess wanted in Enum.GetValues (typeof (MemoryMappedFileAccess)))
				Try (opened + ", view " + wanted, () => {
					using (var m = MemoryMappedFile.CreateFromFile (file, FileMode.Open, null, 0, opened))
					using (var v = m.CreateViewAccessor (0, 0, wanted))
						return v.Capacity + " " + v.CanRead + v.CanWrite;
				});

		foreach (var offset in new long[] { 0, 1, 5, 10, 11, 4096, -1 })
			foreach (var size in new long[] { 0, 1, 10, 11, 4096, -1 })
				Try ("view of " + size + " at " + offset, () => {
					using (var m = MemoryMappedFile.CreateFromFile (file, FileMode.Open))
					using (var v = m.CreateViewStream (offset, size))
						return v.Length + " " + v.PointerOffset + " " + v.ReadByte ();
				});

		foreach (FileMode mode in Enum.GetValues (typeof (FileMode)))
			foreach (var capacity in new long[] { 0, 5, 20 }) {
				Try (mode + " " + capacity + ", a file", () => {
					File.WriteAllText (other, "0123456789");
					using (var m = MemoryMappedFile.CreateFromFile (other, mode, null, capacity))
					using (var v = m.CreateViewStream ())
						return v.Length + " " + new FileInfo (other).Length;
				});
				Console.WriteLine (File.Exists (other) ? new FileInfo (other).Length + " bytes" : "none");
				Try (mode + " " + capacity + ", no file", () => {
					File.Delete (other);
					using (MemoryMappedFile.CreateFromFile (other, mode, null, capacity))
						return new FileInfo (other).Length;
				});
			}

		File.WriteAllText (other, "");
		Try ("empty", () => MemoryMappedFile.CreateFromFile (other));
		Try ("directory", () => MemoryMappedFile.CreateFromFile (directory));
		Try ("long name", () => MemoryMappedFile.CreateFromFile (directory + new string ('x', 300), FileMode.Create, null, 5));
		Try ("no directory", () => MemoryMappedFile.CreateFromFile (directory + "c/d", FileMode.Create, null, 5));
		Try ("more than is there, for reading", () => {
			using (var m = MemoryMappedFile.CreateFromFile (file, FileMode.Open, null, 100, MemoryMappedFileAccess.Read))
			using (var v = m.CreateViewStream (0, 0, MemoryMappedFileAccess.Read))
				return v.Length;
		});
		Try ("device", () => {
			using (var m = MemoryMappedFile.CreateFromFile ("/dev/zero", FileMode.Open, null, 4096))
			using (var v = m.CreateViewStream (0, 4096, MemoryMappedFileAccess.CopyOnWrite))
				return v.Length;
		});
		Directory.Delete (directory, true);
	}
}
