// Names of memory-mapped files: one mapping has a name, whoever asks for it at the same time and whatever it maps.
using System;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Threading;

static class MappedFileNames
{
    static MemoryMappedFile Over(FileStream file, string name)
    {
        return MemoryMappedFile.CreateFromFile(file, name, 0, MemoryMappedFileAccess.ReadWrite, null, HandleInheritability.None, true);
    }
    static string Caught(Action action)
    {
        try { action(); return "done"; }
        catch (IOException e) { return e.GetType().Name; }
    }
    static void Main()
    {
        string path = Path.GetTempFileName();
        File.WriteAllBytes(path, new byte[] { 1, 2, 3, 4, 5, 6, 7, 8 });
        using (var file = File.Open(path, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite))
        using (var memory = MemoryMappedFile.CreateNew("taken", 4096)) {
            using (var view = memory.CreateViewAccessor()) view.Write(0, (byte)77);
            Console.WriteLine(Caught(() => Over(file, "taken").Dispose())); // expect: IOException
            using (var again = MemoryMappedFile.OpenExisting("taken"))
            using (var view = again.CreateViewAccessor()) Console.WriteLine(view.ReadByte(0)); // expect: 77
            using (Over(file, "other")) Console.WriteLine(Caught(() => Over(file, "other").Dispose())); // expect: IOException
            Console.WriteLine(Caught(() => Over(file, "other").Dispose())); // expect: done
        }
        File.Delete(path);

        int apart = 0, lost = 0, both = 0;
        for (int i = 0; i < 500; i++) {
            var maps = new MemoryMappedFile[2];
            var news = new MemoryMappedFile[2];
            var threads = new Thread[2];
            int ready = 0;
            for (int k = 0; k < 2; k++) {
                int me = k;
                threads[k] = new Thread(() => {
                    Interlocked.Increment(ref ready);
                    while (Volatile.Read(ref ready) < 2) { }
                    maps[me] = MemoryMappedFile.CreateOrOpen("shared" + i, 4096);
                    try { news[me] = MemoryMappedFile.CreateNew("new" + i, 4096); } catch (IOException) { }
                });
                threads[k].Start();
            }
            foreach (var t in threads) t.Join();
            if (news[0] != null && news[1] != null) both++;
            using (var a = maps[0].CreateViewAccessor())
            using (var b = maps[1].CreateViewAccessor()) {
                a.Write(0, (byte)9);
                if (b.ReadByte(0) != 9) apart++;
            }
            maps[0].Dispose();
            try { using (MemoryMappedFile.OpenExisting("shared" + i)) { } } catch (FileNotFoundException) { lost++; }
            maps[1].Dispose();
            foreach (var n in news) if (n != null) n.Dispose();
        }
        Console.WriteLine("{0} {1} {2}", apart, lost, both); // expect: 0 0 0
    }
}
