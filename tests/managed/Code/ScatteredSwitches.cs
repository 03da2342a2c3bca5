// tiers: all
// Switches over scattered numbers: what the compiler cuts into tables and comparisons is one table or a few comparisons in the end. Each is asked with
// all numbers around its cases, and gives what a table in memory gives.
using System;
using System.Collections.Generic;

static class ScatteredSwitches
{
    static int Brain(char x, int y)
    {
        int r = y;
        switch (x) {
            case (char)43: r += unchecked((int)43L); break;
            case (char)45: r += unchecked((int)45L); break;
            case (char)46: return unchecked((int)1046L);
            case (char)60: r += unchecked((int)60L); break;
            case (char)62: r += unchecked((int)62L); break;
            case (char)91: return unchecked((int)1091L);
            case (char)93: r += unchecked((int)93L); break;
            default: r--; break;
        }
        return r;
    }
    static int Three(int x, int y)
    {
        int r = y;
        switch (x) {
            case 0: r += unchecked((int)0L); break;
            case 1: return unchecked((int)1001L);
            case 2: r += unchecked((int)2L); break;
            default: r--; break;
        }
        return r;
    }
    static int Digits(char x, int y)
    {
        int r = y;
        switch (x) {
            case (char)48:
            case (char)49:
            case (char)50:
            case (char)51:
            case (char)52:
            case (char)53:
            case (char)54:
            case (char)55:
            case (char)56:
            case (char)57: return unchecked((int)1057L);
            case (char)65:
            case (char)66:
            case (char)67: return unchecked((int)1067L);
            case (char)97: r += unchecked((int)97L); break;
            default: r--; break;
        }
        return r;
    }
    static int Random0(int x, int y)
    {
        int r = y;
        switch (x) {
            case 1000: r += unchecked((int)1000L); break;
            case 1001: return unchecked((int)2001L);
            case 1002: r += unchecked((int)1002L); break;
            case 1010: return unchecked((int)2010L);
            case 1021: r += unchecked((int)1021L); break;
            case 1022: r += unchecked((int)1022L); break;
            case 1023:
            case 1024: return unchecked((int)2024L);
            case 1032:
            case 1033:
            case 1035:
            case 1036: return unchecked((int)2036L);
            default: r--; break;
        }
        return r;
    }
    static int Random1(int x, int y)
    {
        int r = y;
        switch (x) {
            case 1: return unchecked((int)1001L);
            case 2:
            case 10: return unchecked((int)1010L);
            case 11:
            case 27:
            case 28: return unchecked((int)1028L);
            default: r--; break;
        }
        return r;
    }
    static int Random2(int x, int y)
    {
        int r = y;
        switch (x) {
            case 1000: r += unchecked((int)1000L); break;
            case 1005: return unchecked((int)2005L);
            case 1006: return unchecked((int)2006L);
            case 1007:
            case 1026:
            case 1027:
            case 1042: r += unchecked((int)1042L); break;
            case 1057: r += unchecked((int)1057L); break;
            case 1058: return unchecked((int)2058L);
            case 1059: r += unchecked((int)1059L); break;
            case 1060: r += unchecked((int)1060L); break;
            case 1066: return unchecked((int)2066L);
            case 1067: r += unchecked((int)1067L); break;
            default: r--; break;
        }
        return r;
    }
    static int Random3(int x, int y)
    {
        int r = y;
        switch (x) {
            case 20: r += unchecked((int)20L); break;
            case 32: return unchecked((int)1032L);
            case 41: r += unchecked((int)41L); break;
            case 42:
            case 43: return unchecked((int)1043L);
            case 55: return unchecked((int)1055L);
            case 56:
            case 57: r += unchecked((int)57L); break;
            case 75: r += unchecked((int)75L); break;
            case 76: return unchecked((int)1076L);
            default: r--; break;
        }
        return r;
    }
    static int Random4(int x, int y)
    {
        int r = y;
        switch (x) {
            case 1: return unchecked((int)1001L);
            case 2: return unchecked((int)1002L);
            case 4:
            case 5: r += unchecked((int)5L); break;
            case 6: return unchecked((int)1006L);
            case 15: r += unchecked((int)15L); break;
            case 16: r += unchecked((int)16L); break;
            case 23: return unchecked((int)1023L);
            case 24:
            case 40:
            case 42: r += unchecked((int)42L); break;
            case 43: r += unchecked((int)43L); break;
            case 62: return unchecked((int)1062L);
            case 63: return unchecked((int)1063L);
            case 65: return unchecked((int)1065L);
            case 71: r += unchecked((int)71L); break;
            case 72: r += unchecked((int)72L); break;
            case 74: return unchecked((int)1074L);
            case 75:
            case 87: r += unchecked((int)87L); break;
            case 88:
            case 89: r += unchecked((int)89L); break;
            case 90: return unchecked((int)1090L);
            case 91: r += unchecked((int)91L); break;
            default: r--; break;
        }
        return r;
    }
    static int Random5(int x, int y)
    {
        int r = y;
        switch (x) {
            case 20: return unchecked((int)1020L);
            case 21: r += unchecked((int)21L); break;
            case 22: return unchecked((int)1022L);
            case 35: return unchecked((int)1035L);
            case 36: r += unchecked((int)36L); break;
            case 37: return unchecked((int)1037L);
            case 60: r += unchecked((int)60L); break;
            case 62: return unchecked((int)1062L);
            case 63: r += unchecked((int)63L); break;
            case 78: r += unchecked((int)78L); break;
            case 79: r += unchecked((int)79L); break;
            case 80:
            case 98: r += unchecked((int)98L); break;
            case 99: r += unchecked((int)99L); break;
            case 101:
            case 114: r += unchecked((int)114L); break;
            case 115: r += unchecked((int)115L); break;
            case 116:
            case 117: r += unchecked((int)117L); break;
            case 119: r += unchecked((int)119L); break;
            case 129: r += unchecked((int)129L); break;
            case 130: return unchecked((int)1130L);
            default: r--; break;
        }
        return r;
    }
    static int Random6(int x, int y)
    {
        int r = y;
        switch (x) {
            case 0: return unchecked((int)1000L);
            case 18: r += unchecked((int)18L); break;
            case 19: return unchecked((int)1019L);
            case 34: r += unchecked((int)34L); break;
            case 35: r += unchecked((int)35L); break;
            case 36:
            case 37: return unchecked((int)1037L);
            default: r--; break;
        }
        return r;
    }
    static int Random7(int x, int y)
    {
        int r = y;
        switch (x) {
            case 20: r += unchecked((int)20L); break;
            case 24: r += unchecked((int)24L); break;
            case 25:
            case 26: r += unchecked((int)26L); break;
            case 27: r += unchecked((int)27L); break;
            case 28: return unchecked((int)1028L);
            case 44: r += unchecked((int)44L); break;
            case 45: return unchecked((int)1045L);
            case 46:
            case 48: r += unchecked((int)48L); break;
            case 58: r += unchecked((int)58L); break;
            case 59: return unchecked((int)1059L);
            case 74: return unchecked((int)1074L);
            default: r--; break;
        }
        return r;
    }
    static int Random8(int x, int y)
    {
        int r = y;
        switch (x) {
            case 2147483000: return unchecked((int)2147484000L);
            case 2147483002:
            case 2147483004: return unchecked((int)2147484004L);
            case 2147483006: r += unchecked((int)2147483006L); break;
            case 2147483022: r += unchecked((int)2147483022L); break;
            case 2147483023: r += unchecked((int)2147483023L); break;
            case 2147483041: return unchecked((int)2147484041L);
            case 2147483042: return unchecked((int)2147484042L);
            case 2147483043: return unchecked((int)2147484043L);
            case 2147483050:
            case 2147483051: r += unchecked((int)2147483051L); break;
            case 2147483053:
            case 2147483054:
            case 2147483069: return unchecked((int)2147484069L);
            case 2147483079:
            case 2147483080: return unchecked((int)2147484080L);
            case 2147483081:
            case 2147483082: return unchecked((int)2147484082L);
            default: r--; break;
        }
        return r;
    }
    static int Random9(int x, int y)
    {
        int r = y;
        switch (x) {
            case -7: r += unchecked((int)-7L); break;
            case -6:
            case -5: return unchecked((int)995L);
            case -4: r += unchecked((int)-4L); break;
            case -3: r += unchecked((int)-3L); break;
            case 23:
            case 25: return unchecked((int)1025L);
            case 26: r += unchecked((int)26L); break;
            case 27:
            case 28: return unchecked((int)1028L);
            case 53: r += unchecked((int)53L); break;
            case 56: return unchecked((int)1056L);
            case 58: return unchecked((int)1058L);
            case 60: return unchecked((int)1060L);
            case 61: return unchecked((int)1061L);
            case 67:
            case 69: r += unchecked((int)69L); break;
            case 70: r += unchecked((int)70L); break;
            case 83:
            case 85: r += unchecked((int)85L); break;
            default: r--; break;
        }
        return r;
    }
    static int Bytes(byte x, int y)
    {
        int r = y;
        switch (x) {
            case 0: return unchecked((int)1000L);
            case 2: return unchecked((int)1002L);
            case 3: return unchecked((int)1003L);
            case 4: return unchecked((int)1004L);
            case 5: return unchecked((int)1005L);
            case 14: r += unchecked((int)14L); break;
            case 18: return unchecked((int)1018L);
            case 22: r += unchecked((int)22L); break;
            case 24: return unchecked((int)1024L);
            case 29: return unchecked((int)1029L);
            case 30: return unchecked((int)1030L);
            case 31: return unchecked((int)1031L);
            case 33: return unchecked((int)1033L);
            default: r--; break;
        }
        return r;
    }
    static int Unsigned(uint x, int y)
    {
        int r = y;
        switch (x) {
            case 5: return unchecked((int)1005L);
            case 7: return unchecked((int)1007L);
            case 8: r += unchecked((int)8L); break;
            case 9: r += unchecked((int)9L); break;
            case 11: r += unchecked((int)11L); break;
            case 34: return unchecked((int)1034L);
            case 35: r += unchecked((int)35L); break;
            case 36: r += unchecked((int)36L); break;
            case 47: return unchecked((int)1047L);
            case 76: return unchecked((int)1076L);
            case 77: r += unchecked((int)77L); break;
            case 79: r += unchecked((int)79L); break;
            case 86: r += unchecked((int)86L); break;
            default: r--; break;
        }
        return r;
    }
    static int Long(long x, int y)
    {
        int r = y;
        switch (x) {
            case 3: return unchecked((int)1003L);
            case 22: r += unchecked((int)22L); break;
            case 23: r += unchecked((int)23L); break;
            case 25: r += unchecked((int)25L); break;
            case 26: return unchecked((int)1026L);
            case 27:
            case 32: r += unchecked((int)32L); break;
            case 33:
            case 38: return unchecked((int)1038L);
            case 39:
            case 41: r += unchecked((int)41L); break;
            case 42: r += unchecked((int)42L); break;
            case 64: r += unchecked((int)64L); break;
            case 66: return unchecked((int)1066L);
            case 67: return unchecked((int)1067L);
            default: r--; break;
        }
        return r;
    }

    static void Check<T>(string name, Func<T, int, int> ask, Func<long, T> number, long[] cases, char[] kinds, long low, long high)
    {
        // What each number gives: 1000 + v, y + v, or what the next case gives.
        var gives = new Dictionary<long, Func<int, int>>();
        Func<int, int> next = null;
        for (int i = cases.Length - 1; i >= 0; i--) {
            long v = cases[i];
            if (kinds[i] == 'r') next = y => unchecked((int)(1000 + v));
            else if (kinds[i] == 'a') next = y => unchecked(y + (int)v);
            gives[v] = next;
        }
        int wrong = 0;
        var numbers = new List<long>();
        for (long v = cases[0] - 70; v <= cases[cases.Length - 1] + 300; v++) numbers.Add(v);
        numbers.AddRange(new[] { low, low + 1, -1, 0, 1, high - 1, high, int.MinValue, int.MaxValue, uint.MaxValue });
        for (int round = 0; round < 3; round++)
            foreach (long v in numbers) {
                if (v < low || v > high) continue;
                int want = gives.ContainsKey(v) ? gives[v](round) : round - 1;
                if (ask(number(v), round) != want) wrong++;
            }
        if (wrong != 0) Console.WriteLine(name + ": " + wrong + " wrong");
    }

    static void Main()
    {
        Check<char>("Brain", Brain, v => (char)v, new long[] { 43, 45, 46, 60, 62, 91, 93 }, new[] { 'a', 'a', 'r', 'a', 'a', 'r', 'a' }, 0, 65535);
        Check<int>("Three", Three, v => (int)v, new long[] { 0, 1, 2 }, new[] { 'a', 'r', 'a' }, int.MinValue, int.MaxValue);
        Check<char>("Digits", Digits, v => (char)v, new long[] { 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 65, 66, 67, 97 }, new[] { 's', 's', 's', 's', 's', 's', 's', 's', 's', 'r', 's', 's', 'r', 'a' }, 0, 65535);
        Check<int>("Random0", Random0, v => (int)v, new long[] { 1000, 1001, 1002, 1010, 1021, 1022, 1023, 1024, 1032, 1033, 1035, 1036 }, new[] { 'a', 'r', 'a', 'r', 'a', 'a', 's', 'r', 's', 's', 's', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random1", Random1, v => (int)v, new long[] { 1, 2, 10, 11, 27, 28 }, new[] { 'r', 's', 'r', 's', 's', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random2", Random2, v => (int)v, new long[] { 1000, 1005, 1006, 1007, 1026, 1027, 1042, 1057, 1058, 1059, 1060, 1066, 1067 }, new[] { 'a', 'r', 'r', 's', 's', 's', 'a', 'a', 'r', 'a', 'a', 'r', 'a' }, int.MinValue, int.MaxValue);
        Check<int>("Random3", Random3, v => (int)v, new long[] { 20, 32, 41, 42, 43, 55, 56, 57, 75, 76 }, new[] { 'a', 'r', 'a', 's', 'r', 'r', 's', 'a', 'a', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random4", Random4, v => (int)v, new long[] { 1, 2, 4, 5, 6, 15, 16, 23, 24, 40, 42, 43, 62, 63, 65, 71, 72, 74, 75, 87, 88, 89, 90, 91 }, new[] { 'r', 'r', 's', 'a', 'r', 'a', 'a', 'r', 's', 's', 'a', 'a', 'r', 'r', 'r', 'a', 'a', 'r', 's', 'a', 's', 'a', 'r', 'a' }, int.MinValue, int.MaxValue);
        Check<int>("Random5", Random5, v => (int)v, new long[] { 20, 21, 22, 35, 36, 37, 60, 62, 63, 78, 79, 80, 98, 99, 101, 114, 115, 116, 117, 119, 129, 130 }, new[] { 'r', 'a', 'r', 'r', 'a', 'r', 'a', 'r', 'a', 'a', 'a', 's', 'a', 'a', 's', 'a', 'a', 's', 'a', 'a', 'a', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random6", Random6, v => (int)v, new long[] { 0, 18, 19, 34, 35, 36, 37 }, new[] { 'r', 'a', 'r', 'a', 'a', 's', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random7", Random7, v => (int)v, new long[] { 20, 24, 25, 26, 27, 28, 44, 45, 46, 48, 58, 59, 74 }, new[] { 'a', 'a', 's', 'a', 'a', 'r', 'a', 'r', 's', 'a', 'a', 'r', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random8", Random8, v => (int)v, new long[] { 2147483000, 2147483002, 2147483004, 2147483006, 2147483022, 2147483023, 2147483041, 2147483042, 2147483043, 2147483050, 2147483051, 2147483053, 2147483054, 2147483069, 2147483079, 2147483080, 2147483081, 2147483082 }, new[] { 'r', 's', 'r', 'a', 'a', 'a', 'r', 'r', 'r', 's', 'a', 's', 's', 'r', 's', 'r', 's', 'r' }, int.MinValue, int.MaxValue);
        Check<int>("Random9", Random9, v => (int)v, new long[] { -7, -6, -5, -4, -3, 23, 25, 26, 27, 28, 53, 56, 58, 60, 61, 67, 69, 70, 83, 85 }, new[] { 'a', 's', 'r', 'a', 'a', 's', 'r', 'a', 's', 'r', 'a', 'r', 'r', 'r', 'r', 's', 'a', 'a', 's', 'a' }, int.MinValue, int.MaxValue);
        Check<byte>("Bytes", Bytes, v => (byte)v, new long[] { 0, 2, 3, 4, 5, 14, 18, 22, 24, 29, 30, 31, 33 }, new[] { 'r', 'r', 'r', 'r', 'r', 'a', 'r', 'a', 'r', 'r', 'r', 'r', 'r' }, 0, 255);
        Check<uint>("Unsigned", Unsigned, v => (uint)v, new long[] { 5, 7, 8, 9, 11, 34, 35, 36, 47, 76, 77, 79, 86 }, new[] { 'r', 'r', 'a', 'a', 'a', 'r', 'a', 'a', 'r', 'r', 'a', 'a', 'a' }, 0, uint.MaxValue);
        Check<long>("Long", Long, v => (long)v, new long[] { 3, 22, 23, 25, 26, 27, 32, 33, 38, 39, 41, 42, 64, 66, 67 }, new[] { 'r', 'a', 'a', 'a', 'r', 's', 'a', 's', 'r', 's', 'a', 'a', 'a', 'r', 'r' }, long.MinValue / 2, long.MaxValue / 2);
        Console.WriteLine("checked"); // expect: checked
    }
}
