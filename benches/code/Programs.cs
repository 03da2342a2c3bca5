// Whole small programs: the kernels that languages are compared by, and shapes of everyday code. Each prints what one run takes.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Text;
using System.Text.RegularExpressions;

static partial class Programs
{
    // N bodies: objects with fields of doubles.
    class Body { public double x, y, z, vx, vy, vz, mass; public Body(double a, double b, double c, double d, double e, double f, double m) { x = a; y = b; z = c; vx = d; vy = e; vz = f; mass = m; } }
    static long NBody(int steps)
    {
        const double year = 365.24, solar = 4 * Math.PI * Math.PI;
        var all = new[] {
            new Body(0, 0, 0, 0, 0, 0, solar),
            new Body(4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.00166007664274403694 * year, 0.00769901118419740425 * year, -0.0000690460016972063023 * year, 0.000954791938424326609 * solar),
            new Body(8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -0.00276742510726411 * year, 0.00499852801234917238 * year, 0.0000230417297573763929 * year, 0.000285885980666130812 * solar),
            new Body(12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 0.00296460137564761618 * year, 0.0023784717395948095 * year, -0.0000296589568540237556 * year, 0.0000436624404335156298 * solar),
            new Body(15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.00268067772490389322 * year, 0.00162824170038242295 * year, -0.000095159225451971587 * year, 0.0000515138902046611451 * solar) };
        for (int s = 0; s < steps; s++) {
            for (int i = 0; i < all.Length; i++) {
                var a = all[i];
                for (int j = i + 1; j < all.Length; j++) {
                    var b = all[j];
                    double dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, d = dx * dx + dy * dy + dz * dz, mag = 0.01 / (d * Math.Sqrt(d));
                    a.vx -= dx * b.mass * mag; a.vy -= dy * b.mass * mag; a.vz -= dz * b.mass * mag;
                    b.vx += dx * a.mass * mag; b.vy += dy * a.mass * mag; b.vz += dz * a.mass * mag;
                }
            }
            foreach (var b in all) { b.x += 0.01 * b.vx; b.y += 0.01 * b.vy; b.z += 0.01 * b.vz; }
        }
        return (long)(all[0].x * 1e9);
    }
    // Permutations and reversals of small int arrays.
    static long Fannkuch(int n)
    {
        int[] p = new int[n], q = new int[n], s = new int[n];
        int sign = 1, most = 0, sum = 0;
        for (int i = 0; i < n; i++) p[i] = q[i] = s[i] = i;
        for (;;) {
            int first = p[0];
            if (first != 0) {
                for (int i = 1; i < n; i++) q[i] = p[i];
                int flips = 1;
                for (;;) {
                    int next = q[first];
                    if (next == 0) { sum += sign * flips; if (flips > most) most = flips; break; }
                    q[first] = first;
                    if (first >= 3) for (int i = 1, j = first - 1; i < j; i++, j--) { int t = q[i]; q[i] = q[j]; q[j] = t; }
                    first = next; flips++;
                }
            }
            if (sign == 1) { int t = p[0]; p[0] = p[1]; p[1] = t; sign = -1; continue; }
            { int t = p[1]; p[1] = p[2]; p[2] = t; sign = 1; }
            for (int i = 2; i < n; i++) {
                if (s[i] != 0) { s[i]--; break; }
                if (i == n - 1) return sum * 100 + most;
                s[i] = i;
                int t = p[0];
                for (int j = 0; j <= i; j++) p[j] = p[j + 1];
                p[i + 1] = t;
            }
        }
    }
    static double A(int i, int j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }
    static void Times(double[] v, double[] to, bool turned)
    {
        for (int i = 0; i < v.Length; i++) { double sum = 0; for (int j = 0; j < v.Length; j++) sum += (turned ? A(j, i) : A(i, j)) * v[j]; to[i] = sum; }
    }
    static long SpectralNorm(int n)
    {
        double[] u = new double[n], v = new double[n], t = new double[n];
        for (int i = 0; i < n; i++) u[i] = 1;
        for (int i = 0; i < 10; i++) { Times(u, t, false); Times(t, v, true); Times(v, t, false); Times(t, u, true); }
        double a = 0, b = 0;
        for (int i = 0; i < n; i++) { a += u[i] * v[i]; b += v[i] * v[i]; }
        return (long)(Math.Sqrt(a / b) * 1e9);
    }
    static long Mandelbrot(int n)
    {
        long sum = 0;
        for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) {
            double cr = 2.0 * x / n - 1.5, ci = 2.0 * y / n - 1, zr = 0, zi = 0, r2 = 0, i2 = 0;
            int k = 0;
            for (; k < 50 && r2 + i2 <= 4; k++) { zi = 2 * zr * zi + ci; zr = r2 - i2 + cr; r2 = zr * zr; i2 = zi * zi; }
            sum += k;
        }
        return sum;
    }
    sealed class Tree { Tree left, right; public static Tree Make(int d) { var t = new Tree(); if (d > 0) { t.left = Make(d - 1); t.right = Make(d - 1); } return t; } public int Check() { return left == null ? 1 : 1 + left.Check() + right.Check(); } }
    static long BinaryTrees(int depth)
    {
        long sum = 0;
        var live = Tree.Make(depth);
        for (int d = 4; d <= depth; d += 4) for (int i = 1 << (depth - d + 4); i > 0; i--) sum += Tree.Make(d).Check();
        return sum + live.Check();
    }
    static byte[] Sequence(int n)
    {
        var all = new byte[n];
        int seed = 42;
        for (int i = 0; i < n; i++) { seed = (seed * 3877 + 29573) % 139968; all[i] = (byte)"ACGT"[seed * 4 / 139968]; }
        return all;
    }
    static long KNucleotide(int n)
    {
        var text = Encoding.ASCII.GetString(Sequence(n));
        long sum = 0;
        foreach (int size in new[] { 1, 2, 4, 8 }) {
            var counts = new Dictionary<string, int>();
            for (int i = 0; i + size <= text.Length; i++) { string part = text.Substring(i, size); int c; counts.TryGetValue(part, out c); counts[part] = c + 1; }
            sum += counts.Count + counts.Values.Max();
        }
        return sum;
    }
    static long ReverseComplement(int n)
    {
        var all = Sequence(n);
        var map = new byte[128];
        map['A'] = (byte)'T'; map['C'] = (byte)'G'; map['G'] = (byte)'C'; map['T'] = (byte)'A';
        long sum = 0;
        for (int k = 0; k < 8; k++) {
            for (int i = 0, j = all.Length - 1; i < j; i++, j--) { byte c = map[all[i]]; all[i] = map[all[j]]; all[j] = c; }
            sum += all[k * 7];
        }
        return sum;
    }
    static long RegexRedux(int n)
    {
        var text = Encoding.ASCII.GetString(Sequence(n));
        long sum = 0;
        foreach (var p in new[] { "AGGGTAAA|TTTACCCT", "[CGT]GGGTAAA|TTTACCC[ACG]", "AGG[ACT]TAAA|TTTA[AGT]CCT" }) sum += new Regex(p, RegexOptions.Compiled).Matches(text).Count;
        return sum + Regex.Replace(text, "TCA", "<4>").Length;
    }
    static long PiDigits(int n)
    {
        BigInteger q = 1, r = 0, t = 1; int k = 1; long sum = 0;
        for (int i = 0; i < n;) {
            BigInteger l = 2 * k + 1;
            r = (2 * q + r) * l; t *= l; q *= k++;
            if (q > r) continue;
            var d = (3 * q + r) / t;
            if (d != (4 * q + r) / t) continue;
            sum = sum * 7 % 1000003 + (int)d;
            q *= 10; r = (r - d * t) * 10; i++;
        }
        return sum;
    }
    // A ray tracer: structs with operators, and an abstract class with two shapes.
    struct Vec
    {
        public readonly double X, Y, Z;
        public Vec(double x, double y, double z) { X = x; Y = y; Z = z; }
        public static Vec operator +(Vec a, Vec b) { return new Vec(a.X + b.X, a.Y + b.Y, a.Z + b.Z); }
        public static Vec operator -(Vec a, Vec b) { return new Vec(a.X - b.X, a.Y - b.Y, a.Z - b.Z); }
        public static Vec operator *(Vec a, double s) { return new Vec(a.X * s, a.Y * s, a.Z * s); }
        public double Dot(Vec b) { return X * b.X + Y * b.Y + Z * b.Z; }
        public Vec Unit() { return this * (1 / Math.Sqrt(Dot(this))); }
    }
    abstract class Shape { public double Shine; public abstract double Hit(Vec from, Vec way); public abstract Vec Normal(Vec at); }
    sealed class Ball : Shape
    {
        readonly Vec centre; readonly double radius;
        public Ball(Vec c, double r, double s) { centre = c; radius = r; Shine = s; }
        public override double Hit(Vec from, Vec way) { var d = centre - from; double b = d.Dot(way), q = b * b - d.Dot(d) + radius * radius; if (q < 0) return double.MaxValue; double t = b - Math.Sqrt(q); return t > 1e-6 ? t : double.MaxValue; }
        public override Vec Normal(Vec at) { return (at - centre).Unit(); }
    }
    sealed class Plane : Shape
    {
        readonly double height;
        public Plane(double h, double s) { height = h; Shine = s; }
        public override double Hit(Vec from, Vec way) { if (way.Y > -1e-6) return double.MaxValue; double t = (height - from.Y) / way.Y; return t > 1e-6 ? t : double.MaxValue; }
        public override Vec Normal(Vec at) { return new Vec(0, 1, 0); }
    }
    static double Trace(List<Shape> scene, Vec from, Vec way, int depth)
    {
        Shape best = null; double near = double.MaxValue;
        foreach (var s in scene) { double t = s.Hit(from, way); if (t < near) { near = t; best = s; } }
        if (best == null) return 0.5 + 0.5 * way.Y;
        Vec at = from + way * near, n = best.Normal(at), light = new Vec(0.6, 0.7, -0.4).Unit();
        double value = Math.Max(0, n.Dot(light));
        if (depth > 0) value = value * (1 - best.Shine) + best.Shine * Trace(scene, at, (way - n * (2 * n.Dot(way))).Unit(), depth - 1);
        return value;
    }
    static long RayTracer(int n)
    {
        var scene = new List<Shape> { new Plane(-1, 0.3) };
        for (int i = 0; i < 8; i++) scene.Add(new Ball(new Vec(i % 4 * 1.2 - 2, i / 4 - 0.3, 4 + i % 3), 0.6, 0.4));
        double sum = 0;
        for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) sum += Trace(scene, new Vec(0, 0, -2), new Vec(2.0 * x / n - 1, 1 - 2.0 * y / n, 2).Unit(), 3);
        return (long)(sum * 1e3);
    }
    // A stack machine in a switch, and the same expression as a tree of nodes with a virtual method.
    static long Interpreter(int n)
    {
        int[] code = { 0, 0, 1, 0, 2, 3, 4, 5, 6, 1, 7, 8, 9 };
        var stack = new long[16]; long acc = 0;
        for (int round = 0; round < n; round++) {
            int sp = 0;
            for (int pc = 0; ; pc++) {
                switch (code[pc]) {
                    case 0: stack[sp++] = round; break;
                    case 1: sp--; stack[sp - 1] += stack[sp]; break;
                    case 2: stack[sp - 1] ^= 5; break;
                    case 3: sp--; stack[sp - 1] -= stack[sp]; break;
                    case 4: stack[sp - 1] <<= 1; break;
                    case 5: stack[sp++] = 3; break;
                    case 6: stack[sp++] = acc & 7; break;
                    case 7: sp--; stack[sp - 1] *= stack[sp]; break;
                    case 8: acc += stack[--sp]; break;
                    default: goto done;
                }
            }
            done: ;
        }
        return acc;
    }
    abstract class Node { public abstract long Value(long x); }
    sealed class Constant : Node { readonly long v; public Constant(long v) { this.v = v; } public override long Value(long x) { return v; } }
    sealed class Variable : Node { public override long Value(long x) { return x; } }
    sealed class Sum : Node { readonly Node l, r; public Sum(Node l, Node r) { this.l = l; this.r = r; } public override long Value(long x) { return l.Value(x) + r.Value(x); } }
    sealed class Product : Node { readonly Node l, r; public Product(Node l, Node r) { this.l = l; this.r = r; } public override long Value(long x) { return l.Value(x) * r.Value(x); } }
    static Node Grow(int d) { return d == 0 ? (Node)new Variable() : d % 2 == 0 ? new Sum(Grow(d - 1), new Constant(d)) : (Node)new Product(new Constant(3), new Sum(Grow(d - 1), Grow(d - 1))); }
    static long Expressions(int n) { var tree = Grow(8); long sum = 0; for (int i = 0; i < n; i++) sum += tree.Value(i); return sum; }
    // Text: building, splitting, parsing.
    static long Text(int n)
    {
        var b = new StringBuilder();
        for (int i = 0; i < n; i++) b.Append("key").Append(i).Append('=').Append(i * 31 % 1009).Append(i % 10 == 9 ? '\n' : ';');
        long sum = 0;
        foreach (var line in b.ToString().Split('\n')) foreach (var part in line.Split(';')) { int at = part.IndexOf('='); if (at > 0) sum += int.Parse(part.Substring(at + 1)) + part.Substring(0, at).ToUpperInvariant().Length; }
        return sum;
    }
    // A parser by recursive descent over a string.
    sealed class Json
    {
        readonly string s; int at;
        public Json(string s) { this.s = s; }
        void Blank() { while (at < s.Length && char.IsWhiteSpace(s[at])) at++; }
        public object Value()
        {
            Blank();
            char c = s[at];
            if (c == '{') { var d = new Dictionary<string, object>(); at++; Blank(); while (s[at] != '}') { Blank(); var k = Str(); Blank(); at++; d[k] = Value(); Blank(); if (s[at] == ',') at++; } at++; return d; }
            if (c == '[') { var l = new List<object>(); at++; Blank(); while (s[at] != ']') { l.Add(Value()); Blank(); if (s[at] == ',') at++; Blank(); } at++; return l; }
            if (c == '"') return Str();
            int start = at; while (at < s.Length && (char.IsDigit(s[at]) || s[at] == '-' || s[at] == '.')) at++;
            return double.Parse(s.Substring(start, at - start), System.Globalization.CultureInfo.InvariantCulture);
        }
        string Str() { var b = new StringBuilder(); at++; while (s[at] != '"') { if (s[at] == '\\') at++; b.Append(s[at++]); } at++; return b.ToString(); }
    }
    static long Count(object o) { var d = o as Dictionary<string, object>; if (d != null) { long c = 1; foreach (var p in d) c += p.Key.Length + Count(p.Value); return c; } var l = o as List<object>; if (l != null) { long c = 1; foreach (var p in l) c += Count(p); return c; } return o is string ? ((string)o).Length : (long)(double)o; }
    static long JsonParse(int n)
    {
        var b = new StringBuilder("[");
        for (int i = 0; i < n; i++) b.Append(i == 0 ? "" : ",").Append("{\"id\": ").Append(i).Append(", \"name\": \"item ").Append(i % 100).Append("\", \"values\": [1, 2.5, -3], \"on\": {\"a\": 1}}");
        return Count(new Json(b.Append("]").ToString()).Value());
    }
    static long Linq(int n)
    {
        var all = Enumerable.Range(0, n).Select(i => new { Id = i, Group = i % 97, Value = i * 7919L % 10007 }).ToList();
        return all.Where(x => x.Value % 3 != 0).GroupBy(x => x.Group).Select(g => g.Sum(x => x.Value) + g.Count()).OrderBy(v => v).Take(50).Sum() + all.OrderByDescending(x => x.Value).ThenBy(x => x.Id).First().Id;
    }
    static long Collections(int n)
    {
        var d = new Dictionary<int, long>(); var set = new HashSet<long>(); var sorted = new SortedDictionary<int, int>(); var queue = new Queue<int>();
        long sum = 0; var r = new Numbers(7);
        for (int i = 0; i < n; i++) {
            int k = r.Below(n / 4 + 1); long v; d.TryGetValue(k, out v); d[k] = v + i; set.Add(k * 3L % 1001); queue.Enqueue(k);
            if (queue.Count > 100) sum += queue.Dequeue();
            if (i % 8 == 0) sorted[k] = i;
        }
        foreach (var p in d) sum += p.Value ^ p.Key;
        foreach (var p in sorted) sum = sum * 3 + p.Value;
        return sum + set.Count;
    }
    static long Matrices(int n)
    {
        double[,] a = new double[n, n], b = new double[n, n], c = new double[n, n];
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { a[i, j] = i + j; b[i, j] = i - j; }
        for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double s = 0; for (int k = 0; k < n; k++) s += a[i, k] * b[k, j]; c[i, j] = s; }
        return (long)c[n / 2, n / 3];
    }
    static long Sieve(int n)
    {
        var composite = new bool[n + 1]; long count = 0;
        for (int i = 2; i <= n; i++) { if (composite[i]) continue; count++; for (long j = (long)i * i; j <= n; j += i) composite[j] = true; }
        return count;
    }
    static long SortBy(int n)
    {
        var r = new Numbers(3); var list = new List<string>(); var pairs = new List<KeyValuePair<int, string>>();
        for (int i = 0; i < n; i++) { string s = "s" + r.Below(1000000); list.Add(s); pairs.Add(new KeyValuePair<int, string>(r.Below(n), s)); }
        list.Sort(string.CompareOrdinal); pairs.Sort((x, y) => x.Key.CompareTo(y.Key));
        return list[n / 2].Length + pairs[n / 2].Key;
    }
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
    static IEnumerable<int> Walk(int n) { for (int i = 0; i < n; i++) if (i % 3 != 0) yield return i; }
    static long Iterators(int n) { long sum = 0; foreach (int i in Walk(n)) sum += i; IList<int> list = Walk(n / 10).ToArray(); for (int k = 0; k < 5; k++) for (int i = 0; i < list.Count; i++) sum += list[i]; return sum; }

    // The best of `runs`, the first of which is left out: what is measured is compiled code, not how it comes to be.
    
    static void Row(string name, int n, Func<int, long> program)
    {
        if (only != null && !name.StartsWith(only)) return;
        double best = double.MaxValue; long result = program(n);
        for (int i = 0; i < rounds; i++) { long got = 0; best = Math.Min(best, Bench.Seconds(() => got = program(n))); Bench.Check(got == result, name); }
        Bench.Figure(name, best * 1e3, "ms");
    }
    static string only; static int rounds = 5;
    static void Main(string[] args)
    {
        only = args.Length > 0 ? args[0] : null; if (args.Length > 1) rounds = int.Parse(args[1]);
        Row("nbody", 200000, NBody);
        Row("fannkuch", 9, Fannkuch);
        Row("spectral-norm", 300, SpectralNorm);
        Row("mandelbrot", 300, Mandelbrot);
        Row("binary-trees", 14, BinaryTrees);
        Row("k-nucleotide", 100000, KNucleotide);
        Row("reverse-complement", 2000000, ReverseComplement);
        Row("regex-redux", 300000, RegexRedux);
        Row("pi-digits", 400, PiDigits);
        Row("ray-tracer", 120, RayTracer);
        Row("interpreter", 500000, Interpreter);
        Row("expressions", 20000, Expressions);
        Row("text", 50000, Text);
        Row("json", 5000, JsonParse);
        Row("linq", 100000, Linq);
        Row("collections", 200000, Collections);
        Row("matrices", 160, Matrices);
        Row("sieve", 3000000, Sieve);
        Row("sort-by", 50000, SortBy);
        Row("fib", 30, n => Fib(n));
        Row("iterators", 1000000, Iterators);
    }
}
