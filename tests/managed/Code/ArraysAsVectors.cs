// mcs: -unsafe
// The instructions for vectors take arrays of several dimensions and with lower bounds as well: `fixed (int* p = table)` is `ldelema` with the index 0.
using System;

struct Pair { public int A; public double B; }

static unsafe class ArraysAsVectors
{
    static string Show(int[,] m) { string s = m.GetLength(0) + "x" + m.GetLength(1) + ":"; foreach (int x in m) s += " " + x; return s; }
    static int[,] Pick(bool first, int[,] a, int[,] b) { fixed (int* p = first ? a : b) { p[1] = 100; } return first ? a : b; }
    static object Same(object o) { return o; }

    static void Main()
    {
        var m = new int[2, 3] { { 1, 2, 3 }, { 4, 5, 6 } };
        fixed (int* p = m) { for (int i = 0; i < 6; i++) Console.Write(p[i] + " "); p[5] = 60; p[0] = 10; }
        Console.WriteLine(Show(m));
        var d = new double[2, 2, 2];
        fixed (double* p = d) for (int i = 0; i < 8; i++) p[i] = i * 1.5;
        Console.WriteLine(d[0, 0, 0] + " " + d[1, 0, 1] + " " + d[1, 1, 1] + " " + d.GetLength(2));
        var s = new Pair[2, 2];
        fixed (Pair* p = s) { p[3].A = 7; p[3].B = 2.5; p[0].A = 1; }
        Console.WriteLine(s[1, 1].A + " " + s[1, 1].B + " " + s[0, 0].A + " " + s[0, 1].A);
        Console.WriteLine(Show(Pick(true, m, new int[1, 1])) + ", " + Show(Pick(false, m, new int[1, 2])));
        var low = (int[,])Array.CreateInstance(typeof(int), new[] { 2, 2 }, new[] { 5, -3 });
        fixed (int* p = low) { p[0] = 1; p[3] = 4; }
        Console.WriteLine(low[5, -3] + " " + low[6, -2] + " " + low.GetLowerBound(0) + " " + low.GetLowerBound(1));
        fixed (int* p = (int[,])Same(m)) Console.WriteLine(p[0] + " " + *(p + 5));
        // No unsafe code: the bytes of an array.
        var bytes = new byte[2, 3];
        Buffer.SetByte(bytes, 0, 99);
        Buffer.SetByte(bytes, 5, 9);
        Console.WriteLine(bytes[0, 0] + " " + bytes[1, 2] + " " + bytes.GetLength(0) + " " + bytes.GetLength(1) + " " + Buffer.GetByte(bytes, 5) + " " + Buffer.ByteLength(bytes));
        var shorts = Array.CreateInstance(typeof(short), new[] { 4 }, new[] { 10 });
        Buffer.SetByte(shorts, 2, 7);
        Console.WriteLine(shorts.GetValue(11) + " " + shorts.GetLowerBound(0) + " " + Buffer.GetByte(shorts, 2));
        var vector = new int[3];
        Buffer.SetByte(vector, 4, 3);
        Console.WriteLine(vector[1] + " " + Buffer.GetByte(vector, 4));
        // The static class of an array that comes from two paths.
        bool c = m.Length > 3;
        int[] one = { 1, 2, 3 }, other = { 4, 5, 6 };
        (c ? one : other)[c ? 1 : 2] = c ? 20 : 30;
        Console.WriteLine(one[1] + " " + other[2]);
        object[] objects = c ? new object[2] : (object[])new string[2];
        objects[c ? 0 : 1] = c ? (object)5 : "x";
        Console.WriteLine(objects[0]);
        try { ((object[])new string[1])[c ? 0 : 1] = c ? (object)5 : "x"; } catch (ArrayTypeMismatchException) { Console.WriteLine("mismatch"); }
    }
}
