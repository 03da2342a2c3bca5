// What goes into another domain and comes back: collections, shared references and cycles, enumerations, by-reference parameters and [Out] arrays, also beside a throw.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Runtime.Serialization.Formatters.Binary;

public enum Mine { A, B }
[Serializable] public struct Pair { public int Number; public string Text; }
[Serializable] public class Node { public int Number; }
[Serializable] public class Derived : ArrayList { public string More; }
[Serializable] public class Upper : IEqualityComparer
{
    bool IEqualityComparer.Equals(object a, object b) { return (string)a == (string)b; }
    public int GetHashCode(object o) { return o.GetHashCode(); }
}

public class Server : MarshalByRefObject
{
    public object Echo(object o) { return o; }
    public bool IsOwn(object o) { return ReferenceEquals(o.GetType(), typeof(Mine)) || o is Mine[] || o is List<Mine> || o is Node; }
    public Mine[] Mines() { return new[] { Mine.B }; }
    public string Kinds(Server back)
    {
        return back.Mines().GetType() == typeof(Mine[]) ? "own" : "foreign";
    }
    public T Same<T>(T value) { return value; }
    // What refers to what.
    public string Shape(ArrayList list)
    {
        return ReferenceEquals(list[0], list[1]) + " " + ReferenceEquals(list[2], list) + " " + ReferenceEquals(((object[])list[3])[0], list[0])
            + " " + ReferenceEquals(list[4], list[5]) + " " + (list[6] == null) + " " + ReferenceEquals(list[7], "");
    }
    public bool AreSame(ArrayList a, ArrayList b) { a.Add(1); return b.Count == a.Count; }
    public void Strings(ref int n, ref string s, bool fail) { n = 5; s = s + "!"; if (fail) throw new ApplicationException("Strings"); }
    public void Arrays(ref int n, [Out] int[] xs, [In, Out] string[] ss, int[] own, bool fail) { n = 6; xs[0] = 7; ss[0] += "x"; own[0] = 9; if (fail) throw new ApplicationException("Arrays"); }
    public void Structs(ref Pair p, ref long l, out Pair q, bool fail)
    {
        p.Number++; p.Text += "p"; l = 9; q = p;
        if (fail) throw new ApplicationException("Structs");
    }
    public void Objects(ref object o, out Node node, ref int n, [Out] Node[] nodes, [Out] int[,] square, [Out] Pair[] pairs, bool fail)
    {
        n = 8; o = new ArrayList { o }; node = new Node { Number = 3 }; nodes[1] = node; square[1, 1] = 4; pairs[0].Text = "in";
        if (fail) throw new ApplicationException("Objects");
    }
    public int? Nullables(int? a, ref int? b, out DateTime? c) { b = a + b; c = new DateTime(7); return b; }
}

static class Copies
{
    static void Try(string what, Func<object> call)
    {
        try { Console.WriteLine(what + ": " + (call() ?? "null")); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name + " " + e.Message.Split('\n')[0]); }
    }
    static string Text(object o)
    {
        if (o is string) return "'" + o + "'";
        var pairs = o as IDictionary;
        var all = o as IEnumerable;
        if (all == null) return o == null ? "null" : o.GetType().Name + " " + o;
        string text = o.GetType().Name + "(";
        if (pairs != null) foreach (DictionaryEntry e in pairs) text += Text(e.Key) + "=" + Text(e.Value) + " ";
        else foreach (object e in all) text += Text(e) + " ";
        return text.TrimEnd() + ")";
    }

    static void Collections(Server server)
    {
        var comparing = new Hashtable(new Upper()) { { "k", 1 } };
        var large = new Hashtable();
        for (int i = 0; i < 500; i++) large[i % 3 == 0 ? (object)i : "key" + i] = i;
        for (int i = 0; i < 500; i += 5) large.Remove(i);
        foreach (object o in new object[] {
            new ArrayList { 1, "two", 3.0, 'c', null, new DateTime(4), TimeSpan.FromTicks(5), 6m, DayOfWeek.Friday },
            new List<int> { 1, 2 }, new List<string> { "a", null }, new List<object> { 1, "b", new List<object>() }, new List<DayOfWeek> { DayOfWeek.Monday },
            new List<Mine> { Mine.B }, new Hashtable { { "a", 1 }, { 2, "b" }, { 'c', new ArrayList { 3 } } }, comparing,
            new Derived { More = "m" }, ArrayList.Synchronized(new ArrayList { 1 }), new object[] { new Node() }, new string[] { "x", null }, new object[][] { new object[] { 1 } },
            new int[,] { { 1, 2 } }, Mine.B, DayOfWeek.Sunday, new IntPtr(5), new Dictionary<string, int> { { "d", 4 } }, new IComparable[] { 1, "s" },
            new bool[] { true }, new DateTime[] { new DateTime(8) }, new Guid[1], new Queue(), "" })
            Try("echo", () => Text(server.Echo(o)));
        var echoed = (Hashtable)server.Echo(large);
        // The order is that of a table which was serialized twice, too.
        Console.WriteLine(echoed.Count == large.Count && Text(echoed) == Text(Serialized(Serialized(large))));
        echoed["new"] = 1; echoed.Remove("key1"); Console.WriteLine(echoed.Count == large.Count);

        string s = new string('s', 3); object box = 5;
        var list = new ArrayList { s, s, null, new object[] { s }, box, box, null, new string(new char[0]) };
        list[2] = list;
        Try("shape", () => server.Shape(list));
        Try("back", () => { var l = (ArrayList)server.Echo(list); return ReferenceEquals(l[2], l) + " " + ReferenceEquals(l[0], l[1]); });
        Try("one twice", () => server.AreSame(list, list));
        var many = new ArrayList();
        for (int i = 0; i < 20000; i++) many.Add("text" + i);
        Try("many", () => { var l = (ArrayList)server.Echo(many); return l.Count + " " + l[19999]; });
        ArrayList deep = new ArrayList();
        for (int i = 0; i < 5000; i++) deep = new ArrayList { deep };
        Try("deep", () => { int n = 0; for (var l = (ArrayList)server.Echo(deep); l.Count > 0; l = (ArrayList)l[0]) n++; return n; });
        Try("unfit", () => server.Echo(new ArrayList { 1, new Action(Unfit) }) is ArrayList);
        Try("unfit object", () => server.Echo(new ArrayList { new object(), new System.IO.MemoryStream().GetType(), new Random() }) != null);
        Try("unfit thread", () => server.Echo(new ArrayList { System.Threading.Thread.CurrentThread }));
        Try("reference", () => ((ArrayList)server.Echo(new ArrayList { server }))[0] == server);
    }
    static void Unfit() { }
    static object Serialized(object o)
    {
        var stream = new System.IO.MemoryStream();
        new BinaryFormatter().Serialize(stream, o);
        stream.Position = 0;
        return new BinaryFormatter().Deserialize(stream);
    }

    static void Returns(Server server, bool fail)
    {
        int n = 0; long l = 0; string s = "s"; object o = "o";
        Try("strings", () => { server.Strings(ref n, ref s, fail); return null; });
        Console.WriteLine(n + " " + s);
        int[] xs = new int[2], own = new int[1]; var ss = new[] { "s" };
        n = 0;
        Try("arrays", () => { server.Arrays(ref n, xs, ss, own, fail); return null; });
        Console.WriteLine(n + " " + xs[0] + " " + ss[0] + " " + own[0]);
        Pair p = new Pair { Number = 1, Text = "t" }, q = new Pair();
        Try("structs", () => { server.Structs(ref p, ref l, out q, fail); return null; });
        Console.WriteLine(p.Number + p.Text + " " + l + " " + q.Number + q.Text);
        n = 0; Node node = null; var nodes = new Node[2]; var square = new int[2, 2]; var pairs = new Pair[1];
        Try("objects", () => { server.Objects(ref o, out node, ref n, nodes, square, pairs, fail); return null; });
        Console.WriteLine(n + " " + Text(o) + " " + (node != null) + " " + (nodes[1] != null) + " " + square[1, 1] + " " + pairs[0].Text);
    }

    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        var server = (Server)domain.CreateInstanceAndUnwrap(typeof(Server).Assembly.FullName, "Server");
        Collections(server);
        Returns(server, false);
        Returns(server, true);
        int? b = 1; DateTime? c = null;
        Try("nullables", () => server.Nullables(2, ref b, out c) + " " + b + " " + c.Value.Ticks);
        Try("nullables", () => server.Nullables(null, ref b, out c) == null && b == null);
        // What a parameter that is only `out` holds before the call goes nowhere.
        Node unused = null; object action = new Action(Unfit); int number = 0;
        Try("own", () => "" + server.IsOwn(Mine.A) + server.IsOwn(new[] { Mine.A }) + server.IsOwn(new List<Mine>()) + server.IsOwn(new Node()));
        Try("kinds", () => server.Kinds(new Server()) + " " + (server.Mines().GetType() == typeof(Mine[])));
        Try("generic", () => server.Same(Mine.B) + " " + server.Same(new[] { Mine.B })[0] + " " + server.Same(new Node { Number = 4 }).Number + " " + server.Same("s") + server.Same(5));
        Try("unfit by reference", () => { server.Objects(ref action, out unused, ref number, new Node[2], new int[2, 2], new Pair[1], false); return ((Delegate)((ArrayList)action)[0]).Method.Name; });
        AppDomain.Unload(domain);
        Try("unloaded", () => server.Echo(new ArrayList()));
    }
}
