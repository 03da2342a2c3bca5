// Uses what shapes.cs declares, in one assembly with it; says how many of the parts threw.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;

static class Program {
    static int threw;
    static void Try(Action a) { try { a(); } catch (Exception e) { threw++; if (e.ToString().Length == 0) Environment.Exit(3); } }
    static int Main(string[] args) {
        Try(() => { var b = new IntBox(); b.Draw(1); if (b.Area < 0) Environment.Exit(4); IShape s = b; s.Draw(2); s.Drawn += delegate { }; });
        Try(() => { IBox<int> b = new Box<int>(); b.Content.ToString(); foreach (int i in (IEnumerable<int>)b) i.ToString(); });
        Try(() => new Box<List<string>>().Map(l => l.Count.ToString()));
        Try(() => new Box<int>.Inner<string>.Deep().ToString());
        Try(() => { var u = new Union { I = 5, S = "s", L = 7 }; u.F.ToString(); object o = u; o.GetHashCode(); o.Equals(u); });
        Try(() => { var p = new Packed { Text = "t", Numbers = new[] { 1, 2 } }; Marshal.SizeOf(p); });
        Try(() => { var g = new Generic<int> { Value = 3 }; g.More = new Generic<int>[4]; g.ToString(); });
        for (int i = 0; i < 6; i++) Try(() => Code.Switch(i));
        Try(() => Code.Handlers("abc")); Try(() => Code.Handlers(5)); Try(() => Code.Handlers(null));
        Try(() => Code.Pointers(2, __arglist(7))); Try(() => Code.Matrix()); Try(() => Code.Boxing(Small.B)); Try(() => Code.Optional()); Try(() => Code.Variance());
        Try(() => { if (Code.Data.Sum(b => b) < 0) Environment.Exit(5); });
        Try(() => Native.Pid());
        Try(() => Enum.Parse(typeof(Wide), "All")); Try(() => Shape.Names[0].ToString());
        Try(() => typeof(Shape).GetCustomAttributes(true).Length.ToString());
        Try(() => { for (int i = 0; i < 20; i++) GC.Collect(0); GC.Collect(); GC.WaitForPendingFinalizers(); });
        Console.WriteLine("done {0}", threw > 0);
        return 0;
    }
}
