// References into the middle of objects: by-reference locals, parameters and returns, typed references, `this` of a
// boxed struct, pointers of `fixed`; the object lives and what was written is in it.
using System;
using System.Runtime.CompilerServices;

static class Interior
{
    struct Inner { public int A; public string S; public object O; }
    sealed class Outer { public long Before; public Inner In; public int[] Numbers = new int[10]; public string After; }
    interface IGrow { int Grow(); string Text { get; } }
    struct Grower : IGrow { int n; string text; public Grower(string t) { n = 0; text = t; } public int Grow() { n++; Churn(n % 3 == 0 ? 1 : 0); n += text.Length; return n; } public string Text { get { Churn(0); return text; } } }

    static object garbage;
    static void Churn(int generation) { for (int i = 0; i < 5000; i++) garbage = new object[i % 9]; GC.Collect(generation); }

    // Only the returned reference keeps the array or object alive.
    [MethodImpl(MethodImplOptions.NoInlining)] static ref int Element(int at) { var a = new int[1000]; for (int i = 0; i < a.Length; i++) a[i] = i; return ref a[at]; }
    [MethodImpl(MethodImplOptions.NoInlining)] static ref Inner Field() { return ref new Outer { In = new Inner { A = 1, S = new string('s', 3), O = 5 }, After = "after" }.In; }
    [MethodImpl(MethodImplOptions.NoInlining)] static ref string Grid(int i, int j) { var g = new string[5, 6]; for (int a = 0; a < 5; a++) for (int b = 0; b < 6; b++) g[a, b] = a + "," + b; return ref g[i, j]; }

    static void Add(ref int n, int times) { for (int i = 0; i < times; i++) { Churn(i % 2); n++; } }
    static void Set(ref Inner inner, out object o) { Churn(0); inner.S = "set " + inner.A; Churn(0); inner.O = inner.S; Churn(1); o = inner.O; }
    static int Deep(ref int n, int depth) { if (depth == 0) { Churn(0); Churn(1); return n; } int local = n + 1; return Deep(ref local, depth - 1) + n - n; }

    static unsafe void Main()
    {
        foreach (int at in new[] { 0, 1, 500, 999 }) {
            ref int r = ref Element(at);
            Churn(0); Churn(0); Churn(1);
            r += 1000;
            Churn(0);
            Console.Write(r + " ");
        }
        Console.WriteLine();                                                // expect: 1000 1001 1500 1999 
        ref Inner inner = ref Field();
        for (int i = 0; i < 3; i++) { Churn(i % 2); inner.A++; inner.O = "o" + inner.A; Churn(0); }
        Console.WriteLine(inner.A + inner.S + inner.O);                     // expect: 4ssso4
        ref string cell = ref Grid(4, 5);
        Churn(0); Churn(1);
        cell += "!";
        Churn(0);
        Console.WriteLine(cell);                                            // expect: 4,5!

        var outer = new Outer();
        Add(ref outer.Numbers[9], 6);
        Set(ref outer.In, out garbage);
        object o;
        Set(ref outer.In, out o);
        Console.WriteLine(outer.Numbers[9] + outer.In.S + ReferenceEquals(o, outer.In.O));  // expect: 6set 0True
        int start = 7;
        Console.WriteLine(Deep(ref start, 100));                            // expect: 107

        IGrow boxed = new Grower(new string('t', 4));
        int sum = 0;
        for (int i = 0; i < 6; i++) sum += boxed.Grow();
        Console.WriteLine(sum + boxed.Text);                                // expect: 105tttt

        var inners = new Inner[20];
        for (int i = 0; i < inners.Length; i++) { ref Inner n = ref inners[i]; Churn(0); n.A = i; n.S = "s" + i; n.O = n.S; }
        Churn(1);
        bool right = true;
        for (int i = 0; i < inners.Length; i++) right &= inners[i].A == i && inners[i].S == "s" + i && ReferenceEquals(inners[i].O, inners[i].S);
        Console.WriteLine(right);                                           // expect: True

        var typed = __makeref(outer.In);
        Churn(0); Churn(1);
        Console.WriteLine(__refvalue(typed, Inner).S);                      // expect: set 0

        // The last reference is the one in a register or a temporary: an argument under way.
        Console.WriteLine(Join(New("a"), New("b"), New("c"), New("d"), New("e"), New("f"), New("g"), New("h")));   // expect: a-b-c-d-e-f-g-h
        // The end of an array, one past the last element, in a loop over it by pointer.
        var last = new byte[64];
        fixed (byte* p = last) { byte* end = p + last.Length; for (byte* q = p; q < end; q++) { *q = 3; if ((q - p) % 16 == 0) Churn(0); } }
        int total = 0;
        foreach (byte b in last) total += b;
        Console.WriteLine(total);                                           // expect: 192
    }
    static string New(string s) { Churn(s == "d" ? 1 : 0); return new string(s.ToCharArray()); }
    static string Join(string a, string b, string c, string d, string e, string f, string g, string h) { Churn(1); return string.Join("-", a, b, c, d, e, f, g, h); }
}
