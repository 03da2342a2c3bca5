// tiers: all
// Buffer.BlockCopy: arrays of all kinds, short and long, overlapping, and what it refuses.
using System;

static class BlockCopies
{
    enum Small : short { A, B }
    struct Pair { public int A, B; }

    static ulong sum = 14695981039346656037;
    static void Add(Array array)
    {
        for (int i = 0; i < Buffer.ByteLength(array); i++) sum = (sum ^ Buffer.GetByte(array, i)) * 1099511628211;
    }
    static Array Fill(Array array)
    {
        for (int i = 0; i < Buffer.ByteLength(array); i++) Buffer.SetByte(array, i, (byte)(i * 7 + 1));
        return array;
    }

    static string Try(Action action)
    {
        try
        {
            action();
            return "copied";
        }
        catch (Exception e)
        {
            return e.GetType().Name + ": " + e.Message.Replace("\n", " | ");
        }
    }

    static void Main()
    {
        var types = new[]
        {
            typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(char), typeof(int), typeof(uint), typeof(long), typeof(ulong), typeof(float), typeof(double),
            typeof(bool), typeof(IntPtr), typeof(UIntPtr), typeof(Small), typeof(decimal), typeof(Pair), typeof(string), typeof(object), typeof(DateTime),
        };
        foreach (var from in types)
            foreach (var to in types)
            {
                string said = Try(() =>
                {
                    var source = Fill(Array.CreateInstance(from, 20));
                    var dest = Fill(Array.CreateInstance(to, 30));
                    Buffer.BlockCopy(source, 3, dest, 5, 11);
                    Add(dest);
                    Buffer.BlockCopy(dest, 0, dest, 1, 9);
                    Buffer.BlockCopy(dest, 4, dest, 1, 13);
                    Add(dest);
                });
                if (from == to || from == typeof(int)) Console.WriteLine(from.Name + " " + to.Name + " " + said + " " + sum.ToString("x16"));
            }
        // Arrays of several dimensions, and with lower bounds.
        var square = (int[,])Fill(new int[5, 7]);
        var bounded = Fill(Array.CreateInstance(typeof(short), new[] { 6 }, new[] { 10 }));
        var bytes = new byte[200];
        Buffer.BlockCopy(square, 3, bytes, 1, 137);
        Buffer.BlockCopy(bounded, 2, bytes, 150, 10);
        Buffer.BlockCopy(bytes, 0, square, 20, 100);
        Buffer.BlockCopy(bytes, 9, bounded, 1, 11);
        Add(bytes);
        Add(square);
        Add(bounded);
        Console.WriteLine(sum.ToString("x16"));
        // Lengths about what is copied without an internal call.
        foreach (int count in new[] { 0, 1, 7, 16383, 16384, 16385, 100000 })
            foreach (int shift in new[] { 0, 1, 100, -1, -100 })
            {
                var long_ = (byte[])Fill(new byte[200300]);
                Buffer.BlockCopy(long_, 150, long_, 150 + shift, count);
                Add(long_);
            }
        Console.WriteLine(sum.ToString("x16"));
        var ints = new int[4];
        foreach (var bad in new[]
        {
            new[] { 0, 0, 17 }, new[] { 1, 0, 16 }, new[] { 0, 1, 16 }, new[] { 16, 0, 1 }, new[] { 16, 16, 0 }, new[] { 17, 0, 0 }, new[] { -1, 0, 1 }, new[] { 0, -1, 1 }, new[] { 0, 0, -1 },
            new[] { int.MaxValue, 0, 1 }, new[] { 0, int.MaxValue, int.MaxValue }, new[] { 1, 1, int.MaxValue },
        })
            Console.WriteLine(string.Join(",", bad) + " " + Try(() => Buffer.BlockCopy(ints, bad[0], ints, bad[1], bad[2])));
        Console.WriteLine(Try(() => Buffer.BlockCopy(null, 0, ints, 0, 1)));
        Console.WriteLine(Try(() => Buffer.BlockCopy(ints, 0, null, 0, 1)));
        Console.WriteLine(Try(() => Buffer.BlockCopy(new string[3], 0, ints, 0, 1)));
        Console.WriteLine(Try(() => Buffer.BlockCopy(ints, 0, new Pair[3], 0, 1)));
        Console.WriteLine(Try(() => Buffer.BlockCopy(new string[0], 0, new Pair[0], 0, 0)));
    }
}
