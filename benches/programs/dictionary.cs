using System;

static class Bench
{
    static void Main ()
    {
        var d = new System.Collections.Generic.Dictionary<string, int> (); var text = new string [5000];
        for (int i = 0; i < text.Length; i++) text [i] = "key" + i % 997 * 31;
        for (int round = 0; round < 1000; round++) foreach (var t in text) { int n; d.TryGetValue (t, out n); d [t] = n + 1; }
        Console.WriteLine (d.Count + " " + d ["key31"]);
    }
}
