// tiers: all
// Bounds checks: which may be left out, and which must stay.
using System;
using System.Runtime.CompilerServices;

static class Program
{
    static int[] field = { 1, 2, 3 };
    static int Up(int[] a) { int s = 0; for (int i = 0; i < a.Length; i++) s = s * 3 + a[i]; return s; }
    static int Each(int[] a) { int s = 0; foreach (int x in a) s = s * 3 + x; return s; }
    static int Down(int[] a) { int s = 0; for (int i = a.Length - 1; i >= 0; i--) s = s * 3 + a[i]; return s; }
    static int Up(int[] a, int from, int to) { int s = 0; for (int i = from; i < to; i++) s += a[i]; return s; }
    static int From(int[] a, int from) { int s = 0; for (int i = from; i < a.Length; i++) s += a[i]; return s; }
    static int Twice(int[] a, int[] b) { int s = 0; for (int i = 0; i < a.Length; i++) s += a[i] * b[i]; return s; }
    static int Past(int[] a) { int s = 0; for (int i = 0; i <= a.Length; i++) s += a[i]; return s; }
    static int Next(int[] a) { int s = 0; for (int i = 0; i < a.Length; i++) s += a[i + 1]; return s; }
    static int Below(int[] a) { int s = 0; for (int i = a.Length - 1; i >= -1; i--) s += a[i]; return s; }
    static int Steps(int[] a, int step) { int s = 0; for (int i = 0; i < a.Length; i += step) s += a[i]; return s; }
    // The step overflows: the index becomes negative while it is less than the bound.
    static int Overflows(int[] a) { int s = 0; for (int i = 0; i < a.Length; i += int.MaxValue - 1) { s += a[i]; i++; } return s; }
    static int Wraps(int[] a) { int s = 0, i = int.MaxValue; unchecked { i += 1; } if (i < a.Length) s += a[i]; return s; }
    static int Counts(int[] a) { int i = int.MaxValue - 2, s = 0; for (int n = 0; n < 9; n++) { if (i < a.Length) s += a[i]; unchecked { i++; } } return s; }
    // Another array in every iteration, or a shorter one.
    static int Changes(int[][] all) { int s = 0, i = 0; while (true) { int[] a = all[i & 1]; s += a[i]; if (i >= a.Length - 1) return s; i++; } }
    static int Shrinks(int[] a) { int s = 0; for (int i = 0; i < a.Length; i++) { s += a[i]; if (i == 1) a = new int[1]; s += a[i]; } return s; }
    static int Field() { int s = 0; for (int i = 0; i < field.Length; i++) { s += field[i]; if (i == 1) field = new int[2]; s += field[i]; } return s; }
    static int Constants(int[] a) { if (a.Length > 3) return a[0] + a[3] + a[2]; if (a.Length >= 2) return a[1] - a[0]; return a.Length == 1 ? a[0] : -a[0]; }
    static int Same(int[] a, int i) { a[i]++; a[i] += a[i] * 2; return a[i] + a[i - 1]; }
    static int Unsigned(int[] a, int i) { if ((uint) i < (uint) a.Length) return a[i]; return -1; }
    static int Inner(int[] a) { int s = 0; for (int i = 0; i < a.Length; i++) for (int j = i + 1; j < a.Length; j++) if (a[j] < a[i]) { int t = a[i]; a[i] = a[j]; a[j] = t; s++; } return s; }
    static int Region(int[] a, int n) { int s = 0; try { for (int i = 0; i < a.Length; i++) s += a[i]; for (int i = 0; i < n; i++) s += a[i]; } catch (IndexOutOfRangeException) { s = -s; } return s; }
    static int Either(int[] a, bool b) { int i = b ? 1 : -1; if (i < a.Length) return a[i]; return 7; }
    static int Crossed(int[] a, int[] b) { int s = 0; for (int i = 0; i < b.Length; i++) { int[] t = a; a = b; b = t; s += a[i]; } return s; }
    static int Null(int[] a) { try { return a.Length + a[0]; } catch (NullReferenceException) { return -9; } }

    static void Show(string name, Func<int> f)
    {
        string s;
        try { s = f().ToString(); } catch (Exception e) { s = e.GetType().Name; }
        Console.WriteLine(name + " " + s);
    }
    static void Main()
    {
        for (int round = 0; round < 2; round++) {
            var a = new[] { 5, 4, 3, 2, 1 }; var one = new[] { 8 }; var none = new int[0];
            foreach (var x in new[] { a, one, none, null }) {
                var y = x;
                Show("up", () => Up(y)); Show("each", () => Each(y)); Show("down", () => Down(y)); Show("past", () => Past(y)); Show("next", () => Next(y));
                Show("below", () => Below(y)); Show("overflows", () => Overflows(y)); Show("wraps", () => Wraps(y)); Show("constants", () => Constants(y));
                Show("shrinks", () => Shrinks(y)); Show("null", () => Null(y)); Show("twice", () => Twice(y, a)); Show("twice", () => Twice(a, y));
                Show("crossed", () => Crossed(y, a)); Show("region", () => Region(y, 2)); Show("changes", () => Changes(new[] { a, y }));
                foreach (int k in new[] { 0, 1, 4, 5, -1, int.MinValue, int.MaxValue }) {
                    int i = k;
                    Show("range", () => Up(y, i, 3)); Show("to", () => Up(y, 0, i & 7)); Show("from", () => From(y, i)); Show("unsigned", () => Unsigned(y, i));
                    Show("same", () => Same(y == null ? null : (int[]) y.Clone(), i));
                    if (k > 0) Show("steps", () => Steps(y, i));
                }
                Show("either", () => Either(y, true)); Show("or", () => Either(y, false)); Show("inner", () => Inner(y == null ? null : (int[]) y.Clone()));
            }
            field = new[] { 1, 2, 3 };
            Show("field", Field);
        }
        Show("counts", () => Counts(new int[3]));
    }
}
