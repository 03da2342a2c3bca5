using System;
using System.Collections.Generic;
using System.Linq;

static class Generics
{
    struct Pair<A, B>
    {
        public A First; public B Second;
        public override string ToString () => $"<{First}, {Second}>";
    }

    static Pair<B, A> Swap<A, B> (Pair<A, B> p) => new Pair<B, A> { First = p.Second, Second = p.First };

    static void Main ()
    {
        Console.WriteLine (Swap (new Pair<int, string> { First = 1, Second = "one" })); // expect: <one, 1>
        var words = new Dictionary<string, List<int>> ();
        foreach (var n in Enumerable.Range (1, 9)) {
            var key = n % 3 == 0 ? "fizz" : "plain";
            if (!words.TryGetValue (key, out var list)) words [key] = list = new List<int> ();
            list.Add (n * n);
        }
        foreach (var pair in words.OrderBy (p => p.Key, StringComparer.Ordinal))
            Console.WriteLine ("{0}: {1}", pair.Key, string.Join (",", pair.Value)); // expect: fizz: 9,36,81
        // expect: plain: 1,4,16,25,49,64
        Console.WriteLine (typeof (Pair<,>).Name); // expect: Pair`2
    }
}
