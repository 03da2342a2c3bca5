// Memory of large arrays that are dead is taken again, by arrays of other sizes, and reads as zeros.
using System;
using System.Collections.Generic;

static class LargeArraysAreClear
{
    static int dirty;
    static byte[] Make(int size)
    {
        var bytes = new byte[size];
        for (int i = 0; i < size; i++) if (bytes[i] != 0) dirty++;
        for (int i = 0; i < size; i += 61) bytes[i] = 0xff;
        bytes[size - 1] = 0xff;
        return bytes;
    }

    static void Main()
    {
        var kept = new Queue<byte[]>();
        uint x = 1;
        for (int n = 0; n < 300; n++)
        {
            x = x * 1664525 + 1013904223;
            // From 9 KB to 3 MB, most of them short.
            int size = 9000 + (int)(x >> 8) % (n % 10 == 0 ? 3000000 : 400000);
            var bytes = Make(size);
            if (n % 3 == 0) kept.Enqueue(bytes);
            if (kept.Count > 5) kept.Dequeue();
            if (n % 25 == 24) GC.Collect();
        }
        Console.WriteLine(dirty); // expect: 0
        var objects = new object[70000];
        foreach (var o in objects) if (o != null) dirty++;
        Console.WriteLine(dirty + " " + kept.Count); // expect: 0 5
    }
}
