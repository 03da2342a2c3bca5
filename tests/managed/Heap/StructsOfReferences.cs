// Values that hold references, on every way that takes them through the runtime: reflection, boxes, arrays, clones,
// nullables, interlocked and block operations. Garbage is made on the way, so that lost references would show.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

struct Pair { public string Left; public int Number; public object Right; public override string ToString() { return Left + "," + Number + "," + Right; } }
struct Wide { public long A; public string B; public long C; public string D; public Pair P; public long E; public string F;
    public override string ToString() { return A + B + C + D + "(" + P + ")" + E + F; } }
struct Generic<T> { public T Value; public int Tag; public T Other; }
[StructLayout(LayoutKind.Explicit)]
struct Overlaid { [FieldOffset(0)] public long Number; [FieldOffset(8)] public object One; [FieldOffset(8)] public string Same; [FieldOffset(16)] public int Last; }
class Base { public string InBase = "base"; public int N = 1; }
class Derived : Base { public Pair Pair; public string InDerived = "derived"; public Wide? Maybe; public object Clone() { return MemberwiseClone(); } }
class Statics {
    public static Pair Shared; public static Wide WideShared; public static Generic<string> G;
    [ThreadStatic] public static Pair PerThread; [ThreadStatic] public static string Text; [ThreadStatic] public static long Count;
}

static class Program {
    static Wide MakeWide(string s) { return new Wide { A = 1, B = s, C = 2, D = s + "d", P = MakePair(s), E = 3, F = s + "f" }; }
    static Pair MakePair(string s) { return new Pair { Left = s + "l", Number = s.Length, Right = s + "r" }; }
    public static Wide Echo(Wide a, Pair b, int c, ref Wide d, Wide? e, out Pair f, string g, Generic<string> h, params object[] rest) {
        Garbage();
        f = b; var was = d; d = a; was.B = g + c + (e.HasValue ? e.Value.B : "none") + h.Value + h.Tag + h.Other + rest.Length;
        return was;
    }
    public static string Many(Wide a, Wide b, Pair c, Pair d, string e, string f, string g, string h, string i, string j, string k, string l, string m, string n, string o, string p, string q) {
        Garbage();
        return a.B + b.F + c.Left + d.Right + e + f + g + h + i + j + k + l + m + n + o + p + q;
    }
    static object sink;
    static void Garbage() { for (int i = 0; i < 2000; i++) sink = new string('x', i % 50); GC.Collect(); }
    static MethodInfo Method(string name) { return typeof(Program).GetMethod(name); }

    static unsafe void Main() {
        // Arguments and results by value, by reference, nullable.
        object[] args = { MakeWide("a"), MakePair("b"), 7, MakeWide("d"), MakeWide("e"), null, "g", new Generic<string> { Value = "v", Tag = 4, Other = "o" }, new object[] { 1, "2" } };
        Console.WriteLine(Method("Echo").Invoke(null, args)); // expect: 1g7ev4o22dd(dl,1,dr)3df
        Console.WriteLine(args[3]); // expect: 1a2ad(al,1,ar)3af
        Console.WriteLine(args[5]); // expect: bl,1,br
        args = new object[] { null, null, null, null, null, null, null, null, new object[0] };
        Console.WriteLine(Method("Echo").Invoke(null, args)); // expect: 00none000(,0,)0
        var many = new object[17];
        many[0] = MakeWide("A"); many[1] = MakeWide("B"); many[2] = MakePair("C"); many[3] = MakePair("D");
        for (int i = 4; i < 17; i++) many[i] = new string((char)('a' + i), 1);
        Console.WriteLine(Method("Many").Invoke(null, many)); // expect: ABfClDrefghijklmnopq

        // Fields of objects and classes, boxed and nullable.
        var d = new Derived();
        typeof(Derived).GetField("Pair").SetValue(d, MakePair("field"));
        typeof(Derived).GetField("Maybe").SetValue(d, MakeWide("maybe"));
        typeof(Base).GetField("InBase").SetValue(d, "set");
        Garbage();
        var copy = (Derived)d.Clone();
        d.Pair.Left = "changed"; d.Maybe = null;
        Garbage();
        Console.WriteLine(copy.Pair + " " + copy.Maybe + " " + copy.InBase + copy.InDerived + copy.N); // expect: fieldl,5,fieldr 1maybe2maybed(maybel,5,mayber)3maybef setderived1
        Console.WriteLine(typeof(Derived).GetField("Maybe").GetValue(d) == null); // expect: True
        typeof(Statics).GetField("Shared").SetValue(null, MakePair("static"));
        typeof(Statics).GetField("WideShared").SetValue(null, MakeWide("wide"));
        typeof(Statics).GetField("PerThread").SetValue(null, MakePair("thread"));
        Statics.Count = 255; Statics.Text = "text" + Statics.Count; Statics.G = new Generic<string> { Value = "x" + 1, Tag = 0xFF, Other = "y" + 2 };
        Garbage();
        Console.WriteLine(Statics.Shared + " " + Statics.WideShared + " " + Statics.PerThread + " " + Statics.Text + Statics.Count + Statics.G.Value + Statics.G.Other); // expect: staticl,6,staticr 1wide2wided(widel,4,wider)3widef threadl,6,threadr text255255x1y2
        object boxed = MakePair("box");
        typeof(Pair).GetField("Right").SetValue(boxed, "inside");
        Console.WriteLine(boxed); // expect: boxl,3,inside
        TypedReference tr = __makeref(d.Pair);
        typeof(Pair).GetField("Left").SetValueDirect(tr, "direct");
        Console.WriteLine(d.Pair + " " + TypedReference.ToObject(tr)); // expect: direct,5,fieldr direct,5,fieldr

        // Arrays: elements, copies that overlap and are long, clones, clearing, several dimensions.
        Array array = Array.CreateInstance(typeof(Pair), 30000);
        for (int i = 0; i < array.Length; i++) array.SetValue(MakePair("" + i), i);
        Garbage();
        Array.Copy(array, 0, array, 5, array.Length - 5);
        Console.WriteLine(array.GetValue(29999) + " " + array.GetValue(5) + " " + array.GetValue(4)); // expect: 29994l,5,29994r 0l,1,0r 4l,1,4r
        Array.Copy(array, 5, array, 0, array.Length - 5);
        var clone = (Pair[])array.Clone();
        Array.Clear(array, 0, array.Length);
        Garbage();
        Console.WriteLine(clone[0] + " " + clone[12345] + " " + clone[29994] + " " + array.GetValue(17)); // expect: 0l,1,0r 12345l,5,12345r 29994l,5,29994r ,0,
        long sum = 0; for (int i = 0; i < 29995; i++) sum += clone[i].Left.Length + ((string)clone[i].Right).Length;
        Console.WriteLine(sum); // expect: 337720
        var nullable = new Wide?[3]; ((Array)nullable).SetValue(MakeWide("n"), 1); ((Array)nullable).SetValue(null, 0);
        Console.WriteLine(nullable[1] + "|" + nullable[0] + "|" + ((Array)nullable).GetValue(1)); // expect: 1n2nd(nl,1,nr)3nf||1n2nd(nl,1,nr)3nf
        var grid = new Pair[2, 3]; ((Array)grid).SetValue(MakePair("grid"), 1, 2);
        var gridCopy = (Pair[,])grid.Clone(); grid[1, 2].Left = null; Garbage();
        Console.WriteLine(gridCopy[1, 2] + " " + gridCopy.GetLength(1)); // expect: gridl,4,gridr 3
        var strings = new string[100000]; for (int i = 0; i < strings.Length; i++) strings[i] = "s" + i;
        object[] objects = new object[100000]; Array.Copy(strings, objects, strings.Length); strings = null; Garbage();
        Console.WriteLine(objects[99999] + (string)objects[0]); // expect: s99999s0
        var list = new List<Wide>(); for (int i = 0; i < 3000; i++) list.Insert(i / 2, MakeWide("" + i)); Garbage();
        Console.WriteLine(list[1500].P + " " + list[0].F + " " + list[2999].D); // expect: 2998l,4,2998r 1f 0d

        // Overlapping references, atomic exchange, equality through fields.
        var o = new Overlaid { Number = 255, Same = "over" + 1, Last = 3 }; object ob = o; Garbage();
        Console.WriteLine(((Overlaid)ob).One + " " + ((Overlaid)ob).Number); // expect: over1 255
        object slot = "old" + 1; object before = Interlocked.Exchange(ref slot, "new" + 1); Garbage();
        Console.WriteLine(before + " " + slot + " " + (Interlocked.CompareExchange(ref d.InDerived, "cas" + 1, d.InDerived)) + d.InDerived); // expect: old1 new1 derivedcas1
        Console.WriteLine(MakePair("eq").Equals(MakePair("eq")) + " " + MakePair("eq").Equals(MakePair("no"))); // expect: True False

        // Blocks without references, longer than a step.
        const int N = 1000003; var bytes = new byte[N + 50000];
        for (int i = 0; i < N; i++) bytes[i] = (byte)(i * 31);
        Buffer.BlockCopy(bytes, 0, bytes, 50000, N);
        bool same = true; for (int i = 0; i < N; i++) same &= bytes[i + 50000] == (byte)(i * 31);
        fixed (byte* p = bytes) { Buffer.MemoryCopy(p + 50000, p, N, N); }
        for (int i = 0; i < N; i++) same &= bytes[i] == (byte)(i * 31);
        Console.WriteLine(same); // expect: True
        fixed (byte* p = bytes) { Unsafe(p); }
        for (int i = 0; i < N; i++) same &= bytes[i] == 0;
        Console.WriteLine(same); // expect: True
    }
    static unsafe void Unsafe(byte* p) { Marshal.Copy(new byte[1000003], 0, (IntPtr)p, 1000003); }
}
