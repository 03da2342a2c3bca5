// Strings across collections: literals and interned ones stay one object, built ones keep their content.
using System;
using System.Collections.Generic;
using System.Text;

static class Strings
{
    static object garbage;
    static void Churn()
    {
        for (int i = 0; i < 20000; i++) garbage = "garbage " + i;
        GC.Collect(0);
        GC.Collect();
    }
    static string Build(params string[] parts) { var b = new StringBuilder(); foreach (var p in parts) b.Append(p); return b.ToString(); }

    static void Main()
    {
        string literal = "a literal", built = Build("a ", "literal");
        Console.WriteLine(ReferenceEquals(literal, built) + " " + ReferenceEquals(literal, string.Intern(built)));  // expect: False True
        for (int i = 0; i < 5; i++) Churn();
        Console.WriteLine(ReferenceEquals(literal, string.Intern(Build("a lit", "eral"))));     // expect: True
        Console.WriteLine(ReferenceEquals(literal, "a literal"));                               // expect: True
        Console.WriteLine(string.IsInterned(Build("never ", "seen")) == null);                  // expect: True
        Console.WriteLine(ReferenceEquals("", string.Empty));                                   // expect: True

        var interned = new List<string>();
        for (int i = 0; i < 5000; i++) interned.Add(string.Intern(Build("number ", i.ToString())));
        Churn();
        bool same = true;
        for (int i = 0; i < 5000; i++) same &= ReferenceEquals(interned[i], string.Intern(Build("numb", "er ", i.ToString()))) && interned[i] == "number " + i;
        Console.WriteLine(same);                                                                // expect: True

        var map = new Dictionary<string, string>();
        for (int i = 0; i < 20000; i++) {
            map[Build("key", i.ToString())] = new string((char)('a' + i % 26), i % 200);
            if (i % 4000 == 0) Churn();
        }
        same = true;
        for (int i = 0; i < 20000; i++) { var v = map["key" + i]; same &= v.Length == i % 200 && (v.Length == 0 || v[v.Length - 1] == (char)('a' + i % 26)); }
        Console.WriteLine(same);                                                                // expect: True

        // A builder that grows through all sizes, up to the large ones.
        var builder = new StringBuilder();
        for (int i = 0; i < 100000; i++) { builder.Append((char)('0' + i % 10)); if (i % 20000 == 0) Churn(); }
        string large = builder.ToString();
        Churn();
        same = large.Length == 100000;
        for (int i = 0; i < large.Length; i++) same &= large[i] == (char)('0' + i % 10);
        Console.WriteLine(same);                                                                // expect: True
        string part = large.Substring(50000, 1000), joined = string.Join(",", large.Substring(1, 3), part.Substring(0, 3)), replaced = large.Replace("0", "zero");
        Churn();
        Console.WriteLine(joined + " " + replaced.Length + " " + part.Length);                  // expect: 123,012 130000 1000
        Console.WriteLine(large.Split('5').Length + " " + string.Concat(new object[] { 1, "x", null, 2.5 }));   // expect: 10001 1x2.5
    }
}
