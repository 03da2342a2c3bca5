// References in every place a type can put them: each survives collections of both kinds, and is the same object after.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.InteropServices;

struct Small { public string S; }
struct Wide { public int A; public string S; public long B; public Small Inner; public object O; public byte C; }
struct Generic<T, U> { public T First; public int Between; public U Second; public Small Third; }
[StructLayout(LayoutKind.Explicit)]
struct Overlaid { [FieldOffset(0)] public long Number; [FieldOffset(8)] public object O; [FieldOffset(16)] public int I; [FieldOffset(16)] public float F; [FieldOffset(24)] public string S; }
class Base { public object A; public byte B; }
class Middle : Base { public string C; public Wide D; }
class Bottom : Middle { public int E; public object[] F; public Generic<string, Wide> G; public int? H; public Wide? I; }
class GenericClass<T> { public T Value; public T[] Array; public Generic<T, T> Both; }
sealed class Big
{
    public object F00, F01, F02, F03, F04, F05, F06, F07, F08, F09; public long L0; public object F10, F11, F12, F13, F14, F15, F16, F17, F18, F19; public long L1;
    public object F20, F21, F22, F23, F24, F25, F26, F27, F28, F29; public long L2; public object F30, F31, F32, F33, F34, F35, F36, F37, F38, F39; public long L3;
    public object F40, F41, F42, F43, F44, F45, F46, F47, F48, F49; public long L4; public object F50, F51, F52, F53, F54, F55, F56, F57, F58, F59; public long L5;
    public object F60, F61, F62, F63, F64, F65, F66, F67, F68, F69; public Wide Last;
}

static class Shapes
{
    static int next;
    static string New() { return "value " + next++; }
    static Wide NewWide() { return new Wide { A = next, S = New(), B = next, Inner = new Small { S = New() }, O = New(), C = 9 }; }
    static string Show(Wide w) { return w.S + "," + w.Inner.S + "," + w.O + "," + (w.A + w.B + w.C); }

    static readonly List<Func<string>> checks = new List<Func<string>>();
    static readonly List<string> before = new List<string>();
    static void Add(Func<string> check) { checks.Add(check); before.Add(check()); }

    static IEnumerator<string> Iterate(object held, Wide wide)
    {
        var local = New();
        for (int i = 0; ; i++) yield return held + local + Show(wide);
    }

    // What a compiler makes of an async method: a struct with its locals, moved to the heap by boxing.
    struct Machine { public int State; public object Local; public Wide Other; public Action Continue; public void Step() { State++; } }

    static T[] Fill<T>(int n, Func<T> make) { var a = new T[n]; for (int i = 0; i < n; i++) a[i] = make(); return a; }

    static object garbage;
    static void Main()
    {
        object boxedSmall = new Small { S = New() }, boxedWide = NewWide(), boxedGeneric = new Generic<Wide, string> { First = NewWide(), Second = New() };
        Add(() => ((Small)boxedSmall).S + Show((Wide)boxedWide) + Show(((Generic<Wide, string>)boxedGeneric).First) + ((Generic<Wide, string>)boxedGeneric).Second);

        var overlaid = new[] { new Overlaid { Number = 1, O = New(), I = 5, S = New() }, new Overlaid { Number = -1, O = New(), F = 2, S = New() } };
        Add(() => overlaid[0].Number + "" + overlaid[0].O + overlaid[0].S + overlaid[1].O + overlaid[1].S + overlaid[1].F);

        var bottom = new Bottom { A = New(), B = 1, C = New(), D = NewWide(), E = 2, F = new object[] { New(), 5, null, New() }, H = 3, I = NewWide() };
        bottom.G.First = New(); bottom.G.Second = NewWide(); bottom.G.Third.S = New();
        Add(() => bottom.A + bottom.C + Show(bottom.D) + string.Join(",", bottom.F) + bottom.G.First + Show(bottom.G.Second) + bottom.G.Third.S + bottom.H + Show(bottom.I.Value));

        var strings = new GenericClass<string> { Value = New(), Array = Fill(20, New), Both = new Generic<string, string> { First = New(), Second = New() } };
        var wides = new GenericClass<Wide> { Value = NewWide(), Array = Fill(20, NewWide), Both = new Generic<Wide, Wide> { First = NewWide(), Second = NewWide() } };
        var ints = new GenericClass<int> { Value = 1, Array = Fill(20, () => next++) };
        Add(() => strings.Value + string.Join("", strings.Array) + strings.Both.First + strings.Both.Second + Show(wides.Value) + Show(wides.Array[19]) + Show(wides.Both.First) + Show(wides.Both.Second) + ints.Array[19]);

        var big = new Big { F00 = New(), F09 = New(), F33 = New(), F59 = New(), F63 = New(), F64 = New(), F69 = New(), L3 = -1, Last = NewWide() };
        Add(() => "" + big.F00 + big.F01 + big.F09 + big.F33 + big.F59 + big.F63 + big.F64 + big.F69 + big.L3 + Show(big.Last));

        var grid = new string[7, 5];
        var cube = new Wide[3, 4, 5];
        for (int i = 0; i < 7; i++) for (int j = 0; j < 5; j++) grid[i, j] = New();
        for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) for (int k = 0; k < 5; k++) cube[i, j, k] = NewWide();
        var bounds = (object[,])Array.CreateInstance(typeof(object), new[] { 3, 3 }, new[] { -1, 10 });
        bounds[-1, 10] = New(); bounds[1, 12] = New();
        Add(() => { string s = ""; foreach (var g in grid) s += g; foreach (var w in cube) s += Show(w); return s + bounds[-1, 10] + bounds[1, 12]; });

        var jagged = new string[10][][];
        for (int i = 0; i < 10; i++) { jagged[i] = new string[i][]; for (int j = 0; j < i; j++) jagged[i][j] = Fill(j, New); }
        Add(() => { string s = ""; foreach (var a in jagged) foreach (var b in a) foreach (var c in b) s += c; return s; });

        var nullable = Fill<Wide?>(10, () => next % 2 == 0 ? (Wide?)null : NewWide());
        Add(() => { string s = ""; foreach (var n in nullable) s += n.HasValue ? Show(n.Value) : "-"; return s; });

        var map = new Dictionary<string, Wide>();
        var table = new Hashtable();
        var sorted = new SortedDictionary<string, List<string>>();
        for (int i = 0; i < 300; i++) { map.Add("k" + i, NewWide()); table["k" + i] = New(); sorted["k" + i] = new List<string> { New(), New() }; }
        Add(() => { string s = ""; for (int i = 0; i < 300; i++) s += Show(map["k" + i]) + table["k" + i] + sorted["k" + i][1]; return s; });

        string captured = New();
        var wideCaptured = NewWide();
        Func<string> closure = () => captured + Show(wideCaptured);
        Func<string> bound = captured.ToUpper;
        Func<string> several = closure;
        several += bound; several += () => New() == null ? "" : captured;
        Add(() => closure() + bound() + several());

        var iterator = Iterate(New(), NewWide());
        iterator.MoveNext();
        Add(() => { iterator.MoveNext(); return iterator.Current; });

        object machine = new Machine { Local = New(), Other = NewWide(), Continue = () => captured.Trim() };
        Add(() => ((Machine)machine).Local + Show(((Machine)machine).Other) + (((Machine)machine).Continue.Target != null));

        var tuple = Tuple.Create(New(), NewWide(), new[] { New() });
        Add(() => tuple.Item1 + Show(tuple.Item2) + tuple.Item3[0]);
        object anonymous = new { A = New(), B = NewWide(), C = 5 };
        Add(() => anonymous.ToString());

        var covariant = new object[][] { new string[] { New() }, new object[] { NewWide(), 7 } };
        Add(() => covariant[0][0] + Show((Wide)covariant[1][0]) + covariant[1][1]);

        int wrong = 0;
        for (int round = 0; round < 12; round++) {
            for (int i = 0; i < 20000; i++) garbage = i % 3 == 0 ? (object)new Wide() : i % 3 == 1 ? new string('g', i % 50) : (object)new object[i % 20];
            if (round % 4 == 3) GC.Collect(); else GC.Collect(0);
            for (int i = 0; i < checks.Count; i++) {
                string now = checks[i]();
                if (now != before[i] && wrong++ < 5) Console.WriteLine("check " + i + " in round " + round + ": " + now);
            }
        }
        Console.WriteLine(checks.Count + " shapes, " + wrong + " wrong");       // expect: 15 shapes, 0 wrong
    }
}
