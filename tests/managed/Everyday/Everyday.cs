// mcs: -r:System.Xml.dll -r:System.Xml.Linq.dll -r:System.Core.dll
// exit: 3
// A day's program: LINQ, iterators, generics, structs, regular expressions, XML.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;

struct Point : IEquatable<Point>
{
    public readonly int X, Y;
    public Point(int x, int y) { X = x; Y = y; }
    public bool Equals(Point other) { return X == other.X && Y == other.Y; }
    public override bool Equals(object o) { return o is Point && Equals((Point)o); }
    public override int GetHashCode() { return X * 31 + Y; }
    public override string ToString() { return "(" + X + ", " + Y + ")"; }
    public static Point operator +(Point a, Point b) { return new Point(a.X + b.X, a.Y + b.Y); }
}

class Tree<T> where T : IComparable<T>
{
    T value; Tree<T> left, right; bool filled;
    public void Add(T item)
    {
        if (!filled) { value = item; filled = true; left = new Tree<T>(); right = new Tree<T>(); }
        else if (item.CompareTo(value) < 0) left.Add(item);
        else right.Add(item);
    }
    public IEnumerable<T> InOrder()
    {
        if (!filled) yield break;
        foreach (var l in left.InOrder()) yield return l;
        yield return value;
        foreach (var r in right.InOrder()) yield return r;
    }
}

static class Program
{
    static IEnumerable<int> Primes()
    {
        for (int n = 2; ; n++)
            if (!Enumerable.Range(2, Math.Max(0, (int)Math.Sqrt(n) - 1)).Any(d => n % d == 0)) yield return n;
    }
    static int Main(string[] args)
    {
        Console.WriteLine(string.Join(" ", Primes().Take(12)));
        var tree = new Tree<string>();
        foreach (var w in "the quick brown fox jumps over the lazy dog".Split(' ')) tree.Add(w);
        Console.WriteLine(string.Join(",", tree.InOrder().ToArray()));
        var sum = new[] { new Point(1, 2), new Point(3, 4), new Point(5, 6) }.Aggregate((a, b) => a + b);
        Console.WriteLine("sum = {0}, distinct = {1}", sum, new HashSet<Point> { sum, sum, new Point(0, 0) }.Count);
        var groups = from w in new[] { "apple", "avocado", "banana", "blueberry", "cherry" }
                     group w by w[0] into g orderby g.Key descending select g.Key + "=" + g.Count();
        Console.WriteLine(string.Join(";", groups));
        var m = Regex.Match("2026-11-21T02:53:16", @"^(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)T(\d+):(\d+)");
        Console.WriteLine("{0} {1}/{2}/{3}", m.Success, m.Groups["d"].Value, m.Groups["m"].Value, m.Groups["y"].Value);
        Console.WriteLine(Regex.Replace("a1b22c333", "[0-9]+", x => "<" + x.Value.Length + ">"));
        var doc = new XmlDocument();
        doc.LoadXml("<shop><item price='3.50'>tea</item><item price='12'>cup &amp; saucer</item></shop>");
        foreach (XmlElement e in doc.DocumentElement.SelectNodes("item")) Console.WriteLine(e.InnerText + ": " + decimal.Parse(e.GetAttribute("price"), System.Globalization.CultureInfo.InvariantCulture));
        var x2 = new XElement("root", Enumerable.Range(1, 3).Select(i => new XElement("n", new XAttribute("i", i), i * i)));
        Console.WriteLine(x2.ToString(SaveOptions.DisableFormatting));
        var d2 = new Dictionary<string, List<double>>();
        foreach (var p in new[] { "x:1.5", "y:2", "x:0.25" }) {
            var kv = p.Split(':'); List<double> l;
            if (!d2.TryGetValue(kv[0], out l)) d2[kv[0]] = l = new List<double>();
            l.Add(double.Parse(kv[1], System.Globalization.CultureInfo.InvariantCulture));
        }
        Console.WriteLine(string.Join(" ", d2.OrderBy(k => k.Key).Select(k => k.Key + "=" + k.Value.Sum().ToString("F2"))));
        try { object o = "s"; Console.WriteLine((int)o); }
        catch (InvalidCastException e) { Console.WriteLine(e.GetType().Name); }
        finally { Console.WriteLine("finally"); }
        var sb = new StringBuilder();
        for (int i = 0; i < 5; i++) sb.AppendFormat("{0:X2}-", i * 51);
        Console.WriteLine(sb.ToString().TrimEnd('-'));
        return 3;
    }
}
