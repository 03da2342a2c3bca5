// Dictionary<string, V> hashes its keys as it likes: nothing that a program sees depends on it.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.Serialization.Formatters.Binary;

static class DictionaryKeys
{
    static Dictionary<string, int> Filled(int n, IEqualityComparer<string> comparer)
    {
        var d = new Dictionary<string, int>(comparer);
        for (int i = 0; i < n; i++) d["k" + i * 37 % n] = i;
        for (int i = 0; i < n; i += 3) d.Remove("k" + i);
        for (int i = 0; i < n; i += 5) if (!d.ContainsKey("k" + i)) d.Add("k" + i, -i);
        return d;
    }
    static string Order(Dictionary<string, int> d) { return string.Join(",", d.Select(p => p.Key + "=" + p.Value)); }
    static string Caught(Action a) { try { a(); return "no"; } catch (Exception e) { return e.GetType().Name; } }

    static void Main()
    {
        Console.WriteLine(Order(Filled(40, null)));
        Console.WriteLine(Order(Filled(40, EqualityComparer<string>.Default)));
        Console.WriteLine(Order(Filled(40, StringComparer.Ordinal)));
        Console.WriteLine(Order(Filled(40, StringComparer.OrdinalIgnoreCase)));
        // Keys of every length, also with zeros, and long ones that differ in one place.
        var all = new Dictionary<string, int>();
        for (int n = 0; n < 300; n++) { all.Add(new string('a', n), n); all.Add(new string('\0', n) + "b", n); }
        for (int at = 0; at < 40000; at += 1999) { var c = new string('x', 40000).ToCharArray(); c[at] = 'y'; all.Add(new string(c), at); }
        int found = 0;
        for (int n = 0; n < 300; n++) if (all[string.Concat(Enumerable.Repeat("a", n))] == n && all[new string('\0', n) + "b"] == n) found++;
        for (int at = 0; at < 40000; at += 1999) { var c = new string('x', 40000).ToCharArray(); c[at] = 'y'; if (all[new string(c)] == at) found++; }
        Console.WriteLine(found + " " + all.Count + " " + all.ContainsKey(new string('x', 40000)));
        // Code of every tier agrees: the dictionary is filled by the first and searched by the last.
        var d = new Dictionary<string, int>(); long sum = 0;
        for (int i = 0; i < 500; i++) d["key" + i] = i;
        for (int round = 0; round < 400; round++) for (int i = 0; i < 500; i++) { int v; if (d.TryGetValue("key" + i, out v)) sum += v; if (i == round) { d.Remove("key" + i); d.Add("key" + i, i); } }
        Console.WriteLine(sum + " " + d.Count);
        // So do they for each length: first code fills and finds, later code finds and fills another one.
        var keys = Enumerable.Range(0, 40).Select(n => new string('q', n / 2) + new string('r', n - n / 2)).ToArray();
        var early = new Dictionary<string, short>(); int hits = 0, misses = 0;
        for (int n = 0; n < 40; n += 2) early.Add(keys[n], (short)n);
        for (int round = 0; round < 500; round++) for (int n = 0; n < 40; n++) { short v; if (early.TryGetValue(keys[n], out v) && v == n) hits++; else misses++; }
        for (int n = 1; n < 40; n += 2) early.Add(keys[n], (short)n);
        for (int n = 0; n < 40; n++) { early.Remove(keys[n]); early.Add(new string(keys[n].ToCharArray()), (short)-n); }
        Console.WriteLine(hits + " " + misses + " " + keys.Count(k => early[k] == -k.Length) + " " + early.Count);
        // What others see of hashes is as ever.
        Console.WriteLine(all.Comparer.GetHashCode("text") == "text".GetHashCode());
        Console.WriteLine(((object)EqualityComparer<string>.Default).Equals(all.Comparer));
        Console.WriteLine(Caught(() => d.Add(null, 1)) + " " + Caught(() => d.ContainsKey(null)) + " " + Caught(() => d.Remove(null)) + " " + Caught(() => d.Add("key1", 1)) + " " + Caught(() => d["none"].ToString()));
        var stream = new MemoryStream(); var f = new BinaryFormatter();
        f.Serialize(stream, Filled(30, null)); stream.Position = 0;
        var back = (Dictionary<string, int>)f.Deserialize(stream);
        Console.WriteLine(Order(back) + " " + back["k7"] + " " + back.ContainsKey("k31"));
        var copy = new Dictionary<string, int>(back); var other = new Dictionary<string, int>(back, StringComparer.OrdinalIgnoreCase);
        Console.WriteLine(copy["k7"] + " " + other["K7"] + " " + ((IDictionary)copy).Contains("k8") + " " + ((IDictionary)copy).Contains(8));
        var objects = new Dictionary<object, int> { { "text", 1 }, { 2, 2 } };
        Console.WriteLine(objects["te" + "xt".Substring(0)] + " " + objects[2]);
        var nested = new Dictionary<string, Dictionary<string, List<string>>> { { "a", new Dictionary<string, List<string>> { { "b", new List<string> { "c" } } } } };
        Console.WriteLine(nested["a"]["b"][0]);
    }
}
