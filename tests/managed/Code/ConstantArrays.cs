// Arrays that are filled with constants: of each primitive type, of few and of many elements, several times, and by wrong calls.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

enum E : ushort { A = 1, B = 500 }

static class Program
{
    static int[] Ints() { return new int[] { 1, -2, 3, int.MaxValue, 5, 6, 7 }; }
    static byte[] Bytes() { return new byte[] { 1, 2, 3, 250, 5 }; }
    static readonly long[] longs = { 1, -2, long.MinValue };
    static double[] Doubles() { return new[] { 1.5, -2.25, double.NaN, 1e300 }; }
    static float[] Floats() { return new[] { 1.5f, -2.25f, 3f }; }
    static char[] Chars() { return new[] { 'a', 'ä', '\u1234', 'd', 'e' }; }
    static bool[] Bools() { return new[] { true, false, true, true }; }
    static short[] Shorts() { return new short[] { 1, -2, 3 }; }
    static E[] Enums() { return new[] { E.A, E.B, E.A, E.B }; }
    static uint[] Many() { return new uint[] { 0x00000000,0x77073096,0xee0e612c,0x990951ba,0x076dc419,0x706af48f,0xe963a535,0x9e6495a3,0x0edb8832,0x79dcb8a4,0xe0d5e91e,0x97d2d988,0x09b64c2b,0x7eb17cbd,0xe7b82d07,0x90bf1d91,0x1db71064,0x6ab020f2,0xf3b97148,0x84be41de,0x1adad47d,0x6ddde4eb,0xf4d4b551,0x83d385c7,0x136c9856,0x646ba8c0,0xfd62f97a,0x8a65c9ec,0x14015c4f,0x63066cd9,0xfa0f3d63,0x8d080df5,0x3b6e20c8,0x4c69105e,0xd56041e4 }; }
    static int[,] Square() { return new[,] { { 1, 2, 3 }, { 4, 5, 6 } }; }
    static int[][] Jagged() { return new[] { new[] { 1, 2, 3, 4 }, new[] { 5, 6, 7, 8, 9 } }; }
    static string All<T>(T[] a) { return a.GetType().Name + ":" + string.Join(" ", a.Select(x => Convert.ToString(x, System.Globalization.CultureInfo.InvariantCulture))); }
    static string Caught(Action what) { try { what(); return "done"; } catch (ArgumentException e) { return e.GetType().Name; } catch (NullReferenceException) { return "null"; } }

    static void Main()
    {
        for (int round = 0; round < 3; round++) {
            Console.WriteLine(All(Ints()) + All(Bytes()) + All(longs) + All(Doubles()) + All(Floats()));
            Console.WriteLine(All(Chars().Select(c => (int)c).ToArray()) + All(Bools()) + All(Shorts()) + All(Enums()) + All(Many()));
            Console.WriteLine(string.Join(" ", Square().Cast<int>()) + " " + All(Jagged()[0]) + All(Jagged()[1]));
            var mine = Ints(); mine[0] = 99; Console.WriteLine(Ints()[0] + " " + mine[0]);
        }
        var field = typeof(Program).Assembly.GetTypes().SelectMany(t => t.GetFields(BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public)).First(f => f.FieldType.Name.Contains("ArrayType=28") || f.FieldType.Name.Contains("Size=28") || f.FieldType.IsValueType && f.FieldType.IsNested && System.Runtime.InteropServices.Marshal.SizeOf(f.FieldType) == 28);
        int[] fits = new int[7], less = new int[3], more = new int[8];
        Console.WriteLine(Caught(() => RuntimeHelpers.InitializeArray(fits, field.FieldHandle)) + fits[6] + Caught(() => RuntimeHelpers.InitializeArray(less, field.FieldHandle)) + less[2] + Caught(() => RuntimeHelpers.InitializeArray(more, field.FieldHandle)) + Caught(() => RuntimeHelpers.InitializeArray(new string[1], field.FieldHandle)) + Caught(() => RuntimeHelpers.InitializeArray(null, field.FieldHandle)));
    }
}
