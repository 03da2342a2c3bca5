// mcs: -r:System.Core.dll
// Sizes of memory-mapped files are whole pages, the file's own size apart.
using System;
using System.IO;
using System.IO.MemoryMappedFiles;

static class MappedSizes
{
    static void Try(string what, Func<object> value)
    {
        object text;
        try { text = value(); }
        catch (Exception e) { text = e.GetType().Name + ": " + e.Message; }
        Console.WriteLine("{0}: {1}", what, text);
    }
    static string Sizes(MemoryMappedFile map, long offset = 0, long size = 0)
    {
        using (map)
        {
            try
            {
                using (var view = map.CreateViewAccessor(offset, size))
                using (var stream = map.CreateViewStream(offset, size))
                    return view.Capacity + " " + stream.Length;
            }
            catch (Exception e) { return e.GetType().Name + ": " + e.Message; }
        }
    }
    static void Main()
    {
        var file = Path.GetTempFileName();
        foreach (var capacity in new long[] { 1, 100, 4095, 4096, 4097, 10000, -1, 0 })
        {
            Try("new " + capacity, () => Sizes(MemoryMappedFile.CreateNew("new" + capacity, capacity)));
            Try("or open " + capacity, () => Sizes(MemoryMappedFile.CreateOrOpen("open" + capacity, capacity)));
            Try("file " + capacity, () => { File.WriteAllBytes(file, new byte[100]); return Sizes(MemoryMappedFile.CreateFromFile(file, FileMode.Open, null, capacity)) + " " + new FileInfo(file).Length; });
        }
        foreach (var range in new[] { "0 50", "10 20", "50 0", "99 1", "100 0", "100 1", "0 100", "0 101", "0 4096", "0 4097", "5000 0", "4096 0", "4095 2" })
        {
            long offset = long.Parse(range.Split(' ')[0]), size = long.Parse(range.Split(' ')[1]);
            Try("view " + range, () => Sizes(MemoryMappedFile.CreateNew("view" + range, 100), offset, size));
            Try("view of 100 " + range, () => { File.WriteAllBytes(file, new byte[100]); return Sizes(MemoryMappedFile.CreateFromFile(file), offset, size); });
            Try("view of 5000 " + range, () => { File.WriteAllBytes(file, new byte[5000]); return Sizes(MemoryMappedFile.CreateFromFile(file), offset, size); });
        }
        Try("there already", () => { using (MemoryMappedFile.CreateNew("twice", 100)) return Sizes(MemoryMappedFile.CreateOrOpen("twice", 8000)); });
        Try("empty file", () => { File.WriteAllBytes(file, new byte[0]); return Sizes(MemoryMappedFile.CreateFromFile(file)); });
        File.Delete(file);
    }
}
