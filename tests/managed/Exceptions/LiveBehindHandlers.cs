// What is read behind a finally handler, or in a handler around it, has the value that it had; and what cold helpers throw (casts, allocations, class constructors, stores into
// arrays) finds the variables of the try block as they were, while loops keep them in registers.
// tiers: all
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Fails { public static int Value; static Fails() { throw new InvalidOperationException("cctor"); } }

static class LiveBehindHandlers {
    static int noted;
    [MethodImpl(MethodImplOptions.NoInlining)] static void Note(int n) { noted = noted * 31 + n; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int May(int n, int at) { if (n == at) throw new ArgumentException(n.ToString()); return n; }

    // Read behind the finally only: dead where an exception enters it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Behind(int count, int at) {
        long sum = 0; double half = 0.5; string text = "a";
        try { for (int i = 0; i < count; i++) { sum += May(i, at); half *= 2; if ((i & 63) == 0) text += i; } }
        finally { Note(count); }
        return sum + (long)half % 1000 + text.Length;
    }
    // The handler around reads it: live in both ways.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Around(int count, int at) {
        long sum = 0; int last = -1;
        try {
            try { for (int i = 0; i < count; i++) { last = i; sum += May(i, at); } }
            finally { Note(7); }
            sum += 1000000;
        } catch (ArgumentException e) { sum = sum * 3 + last + e.Message.Length; }
        return sum;
    }
    // The finally writes what is read around and behind it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Written(int count, int at) {
        int a = 1, b = 2, c = 3;
        try {
            try { for (int i = 0; i < count; i++) { a += May(i, at); b ^= a; } }
            finally { c = a * 2; a = 5; }
            c++;
        } catch (ArgumentException) { return "caught " + a + " " + b + " " + c; }
        return a + " " + b + " " + c;
    }
    // Two finallys on the way of one leave, and a way back into the loop.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Through(int count, int at) {
        int outer = 0, inner = 0, kept = 100;
        for (int k = 0; k < 3; k++) {
            try {
                try {
                    if (k == 1) continue;
                    for (int i = 0; i < count; i++) { kept += May(i, at) & 1; if (i == 40) break; }
                } finally { inner += k; }
                kept += 1000;
            } finally { outer += inner; }
            kept += 5;
        }
        return outer + " " + inner + " " + kept;
    }
    // A finally handler with handlers inside.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Inside(int count, int at) {
        int x = 0, y = 0, z = 9;
        try {
            try { for (int i = 0; i < count; i++) x += May(i, at); }
            finally {
                try { y = May(x & 3, x & 1); z += 2; }
                catch (ArgumentException) { y = -x; }
                finally { z += y; }
            }
            z += 100;
        } catch (ArgumentException) { z += x; }
        return x + " " + y + " " + z;
    }
    // Exceptions of cold helpers, with many variables live.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Cold(object[] objects, int kind) {
        int a = 1, b = 2, c = 3, d = 4, e = 5, done = 0; double f = 1.5, g = 2.5; object made = null;
        try {
            for (int i = 0; i < objects.Length; i++) {
                done = i;
                switch (kind) {
                case 0: a += ((string)objects[i]).Length; break;
                case 1: made = new byte[i == 50 ? -1 : i]; a += 2; break;
                case 2: objects[i] = i < 50 ? (object)"x" : i; a++; break;
                case 3: if (i == 50) Fails.Value = 3; a += 3; break;

                }
                b += a; c ^= b; d -= c; e += d & 7; f += 0.25; g *= 1.0625;
            }
        } catch (Exception x) {
            return kind + " " + x.GetType().Name + " " + done + ": " + a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + (int)g + " " + (made == null);
        } finally { Note(a ^ b); }
        return kind + " none " + done + ": " + a + " " + b + " " + c + " " + d + " " + e + " " + f + " " + (int)g + " " + (made == null);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Each(List<int> list, Dictionary<string, int> map, IEnumerable<int> any) {
        long sum = 0, product = 1;
        foreach (int x in list) { sum += x; product = product * 3 + x & 0xFFFF; }
        foreach (var pair in map) { sum += pair.Value * pair.Key.Length; product ^= sum; }
        foreach (int x in any) { sum -= x; product += sum; }
        return sum * 1000003 + product;
    }
    static string Try(Func<string> f) { try { return f(); } catch (Exception e) { return e.GetType().Name; } }

    static void Main() {
        var list = new List<int>(); var map = new Dictionary<string, int>();
        for (int i = 0; i < 300; i++) { list.Add(i * 7); map["k" + i] = i; }
        for (int round = 0; round < 400; round++) {
            var lines = new List<string>();
            foreach (int at in new[] { -1, 0, 70 }) {
                lines.Add(Try(() => Behind(100, at).ToString())); lines.Add(Try(() => Around(100, at).ToString())); lines.Add(Try(() => Written(100, at)));
                lines.Add(Try(() => Through(100, at))); lines.Add(Try(() => Inside(100, at)));
            }
            for (int kind = 0; kind < 4; kind++) {
                var objects = new object[100];
                if (kind == 2) objects = new string[100]; else for (int i = 0; i < 100; i++) objects[i] = i == 50 && kind == 0 ? (object)5 : "abc";
                lines.Add(Try(() => Cold(objects, kind)));
            }
            lines.Add(Each(list, map, list).ToString());
            if (round == 0 || round == 399) { lines.ForEach(Console.WriteLine); Console.WriteLine(noted); }
        }
    }
}
