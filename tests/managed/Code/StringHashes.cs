// Equal strings have equal hashes, whoever asks: code of each tier, reflection, delegates, comparers, and for each length. The numbers are mono's, and the same in each run: they are the order
// in which a Hashtable lists its keys.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;

static class StringHashes
{
    static string Made(int length, int seed, bool ascii)
    {
        var all = new char[length];
        for (int i = 0; i < length; i++) { seed = seed * 1103515245 + 12345; all[i] = ascii ? (char)('a' + (uint)seed / 65536 % 26) : (char)((uint)seed / 65536); }
        return new string(all);
    }

    static int wrong;
    static void Check(bool holds, string what) { if (!holds && wrong++ < 10) Console.WriteLine("wrong: " + what); }

    static void Main()
    {
        MethodInfo method = typeof(string).GetMethod("GetHashCode", Type.EmptyTypes);
        Func<int> of = null;
        var lengths = new List<int>();
        for (int i = 0; i < 70; i++) lengths.Add(i);
        lengths.AddRange(new[] { 126, 127, 128, 129, 130, 1000, 16383, 16384, 32767, 32768, 32769, 70000 });
        for (int round = 0; round < 40; round++)
            foreach (int length in lengths) {
                if (round > 2 && length > 1000) continue;
                for (int kind = 0; kind < 2; kind++) {
                    string a = Made(length, length + round, kind == 0), b = Made(length, length + round, kind == 0);
                    object o = b;
                    int hash = a.GetHashCode();
                    of = b.GetHashCode;
                    Check(hash == b.GetHashCode() && hash == o.GetHashCode() && hash == of(), "calls " + length);
                    if (round < 2) Check(hash == (int)method.Invoke(b, null), "reflection " + length);
                    Check(hash == StringComparer.Ordinal.GetHashCode(b), "ordinal " + length);
                    Check(hash == EqualityComparer<string>.Default.GetHashCode(b), "default " + length);
                    Check(hash == ((IStructuralEquatable)Tuple.Create(a)).GetHashCode(StringComparer.Ordinal), "tuple " + length);
                    var fold = StringComparer.OrdinalIgnoreCase;
                    if (kind == 0) Check(fold.GetHashCode(a) == fold.GetHashCode(b.ToUpperInvariant()), "without case " + length);
                    else Check(fold.GetHashCode(a) == fold.GetHashCode(b), "without case, any " + length);
                    if (length > 0 && length < 1000) {
                        string other = a.Substring(0, length - 1) + (char)(a[length - 1] ^ 1);
                        Check(other.GetHashCode() != hash, "another text " + length);
                    }
                }
            }
        var table = new Hashtable();
        var set = new HashSet<string>(StringComparer.OrdinalIgnoreCase);
        var map = new Dictionary<string, int>();
        for (int i = 0; i < 20000; i++) { string s = Made(i % 40, i, true) + i; table[s] = i; map[s] = i; set.Add(s); }
        for (int i = 0; i < 20000; i++) {
            string s = Made(i % 40, i, true) + i;
            Check((int)table[s] == i && map[s] == i && set.Contains(s.ToUpperInvariant()) && !map.ContainsKey(s + "x"), "tables");
        }
        Console.WriteLine(wrong == 0 ? "equal" : wrong + " wrong");
        foreach (string s in new[] { "", "a", "ab", "hello world", "\u00e4\ud800", Made(100, 1, false), Made(40000, 2, true) })
            Console.WriteLine(s.GetHashCode() + " " + StringComparer.OrdinalIgnoreCase.GetHashCode(s));
        var few = new Hashtable();
        foreach (string s in "one two three four five six seven".Split(' ')) few[s] = s.Length;
        foreach (DictionaryEntry entry in few) Console.Write(entry.Key + " ");
        Console.WriteLine();
    }
}
