// Arrays that are somewhat larger than a small object take what they hold and little more, also where other things were before.
using System;
using System.IO;

static class ArraysInLittleSpace {
    static long Resident() {
        foreach (var line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmRSS:")) return long.Parse(line.Substring(6).Replace("kB", "").Trim()) * 1024;
        return 0;
    }
    static byte[][] Make(int size, int bytes) {
        var arrays = new byte[bytes / size][];
        for (int i = 0; i < arrays.Length; i++) { arrays[i] = new byte[size]; arrays[i][size - 1] = arrays[i][0] = (byte)(i + 1); }
        return arrays;
    }
    static bool Check(byte[][] arrays) {
        for (int i = 0; i < arrays.Length; i++) {
            var a = arrays[i];
            if (a[0] != (byte)(i + 1) || a[a.Length - 1] != (byte)(i + 1)) return false;
            for (int k = 1; k < a.Length - 1; k += 511) if (a[k] != 0) return false;
        }
        return true;
    }
    static string Try(int size) {
        const int Bytes = 120 << 20;
        long before = Resident();
        var arrays = Make(size, Bytes);
        long grown = Resident() - before;
        bool whole = Check(arrays);
        GC.KeepAlive(arrays);
        return size + ": " + (whole ? "whole, " : "damaged, ") + (grown < Bytes + Bytes / 2 ? "little" : (grown >> 20) + " MB");
    }
    static void Main() {
        Console.WriteLine(Try(9000)); // expect: 9000: whole, little
        GC.Collect();
        Console.WriteLine(Try(20000)); // expect: 20000: whole, little
        GC.Collect();
        Console.WriteLine(Try(70000)); // expect: 70000: whole, little
        GC.Collect();
        Console.WriteLine(Try(300000)); // expect: 300000: whole, little
    }
}
