// Strings made, cut, joined and dropped, with a ring of the last hundred thousand alive.
using System;
using System.Text;

static class Strings
{
    static long Run(int ring, int count)
    {
        var kept = new string[ring];
        var builder = new StringBuilder();
        var words = new[] { "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta" };
        long length = 0;
        for (int i = 0; i < count; i++) {
            string a = words[i & 7] + words[(i >> 3) & 7];
            string b = string.Concat(a, "-", words[(i >> 6) & 7]);
            string c = b.Substring(2, b.Length - 4);
            builder.Length = 0;
            builder.Append(c).Append(' ').Append(a);
            string s = (i & 15) == 0 ? builder.ToString() + new string('.', i % 400) : builder.ToString();
            kept[i % ring] = s;
            length += s.Length + c.Length;
        }
        for (int i = count - ring; i < count; i++)
            Bench.Check(kept[i % ring].Contains(words[i & 7] + words[(i >> 3) & 7]), "a string that was kept");
        return length;
    }

    static void Main(string[] args)
    {
        int ring = Bench.Argument(args, 0, 100000), count = Bench.Argument(args, 1, 10000000);
        long length = 0;
        double seconds = Bench.Seconds(() => length = Run(ring, count));
        Bench.Check(count != 10000000 || length == 449999936L, "the sum of the lengths, " + length);
        Bench.Figure("strings", seconds, "s");
    }
}
