// mcs: -r:Mono.Simd.dll -unsafe -nowarn:618
// The vectors of Mono.Simd: operators, comparisons, saturation, shuffles, shifts and conversions, for edges and random lanes. The results are mono's, in two runs: with its
// own instructions (the default; its maximum of a NaN is the second operand), but with -O=-simd for SubtractWithSaturation of words and for the structs of 64-bit lanes,
// where they are wrong or it ends.
using System;
using System.Runtime.CompilerServices;
using Mono.Simd;

static unsafe class MonoSimd
{
    static uint state = 2463534242;
    static uint Next() { state ^= state << 13; state ^= state >> 17; state ^= state << 5; return state; }
    static readonly uint[] edges = { 0, 0xffffffff, 0x80000000, 0x7fffffff, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 1, 0x00ff00ff };

    // Sixteen random bytes, some words of them edges.
    static Vector16b Any()
    {
        var v = new Vector16b();
        uint* p = (uint*)&v;
        for (int i = 0; i < 4; i++) p[i] = Next() % 3 == 0 ? edges[Next() % edges.Length] : Next();
        return v;
    }
    static Vector4f Float()
    {
        var v = new Vector4f();
        float* p = (float*)&v;
        for (int i = 0; i < 4; i++) p[i] = Next() % 5 == 0 ? new[] { 0f, -0f, 1f, float.NaN, float.PositiveInfinity, float.MaxValue, -3.5f }[Next() % 7] : ((int)Next()) * 0.00037f;
        return v;
    }
    static Vector2d Double() { var f = Float(); return new Vector2d(f.X * 1.25, f.W / 3.0); }

    static ulong hash = 14695981039346656037;
    static int counted;
    static void Add(uint x) { hash = (hash ^ x) * 1099511628211; }
    static void N(Vector16b v) { uint* p = (uint*)&v; for (int i = 0; i < 4; i++) Add(p[i]); counted++; }
    static void N(Vector16sb v) { N((Vector16b)v); }
    static void N(Vector8s v) { N((Vector16b)v); }
    static void N(Vector8us v) { N((Vector16b)v); }
    static void N(Vector4i v) { N((Vector16b)v); }
    static void N(Vector4ui v) { N((Vector16b)v); }
    static void N(Vector2l v) { N((Vector16b)v); }
    static void N(Vector2ul v) { N((Vector16b)v); }
    // The sign of a NaN is that of whichever operand comes first.
    static void N(Vector4f v) { float* p = (float*)&v; for (int i = 0; i < 4; i++) Add(float.IsNaN(p[i]) ? 77 : *(uint*)&p[i]); counted++; }
    static void N(Vector2d v) { double* p = (double*)&v; for (int i = 0; i < 2; i++) { ulong b = *(ulong*)&p[i]; Add(double.IsNaN(p[i]) ? 77 : (uint)b); Add((uint)(b >> 32)); } counted++; }
    static void M(Vector4f v) { N((Vector16b)v); }
    static void M(Vector2d v) { N((Vector16b)v); }
    static void N(bool b) { Add(b ? 1u : 2u); }

    static void Bytes(Vector16b a, Vector16b b)
    {
        N(a + b); N(a - b); N(a & b); N(a | b); N(a ^ b); N(a == b); N(a != b); N(a == a);
        N(a.AddWithSaturation(b)); N(a.SubtractWithSaturation(b)); N(a.Average(b)); N(a.Max(b)); N(a.Min(b));
        N(a.CompareEqual(b)); N(a.UnpackLow(b)); N(a.UnpackHigh(b)); Add((uint)a.ExtractByteMask());
        N(new Vector16b(a.V3)); a.V5 = b.V11; a.V0 = a.V15; N(a); N(Vector16b.One + Vector16b.Zero);
        var c = (Vector16sb)a; var d = (Vector16sb)b;
        N(c + d); N(c - d); N(c & d); N(c | d); N(c ^ d); N(c == d);
        N(c.AddWithSaturation(d)); N(c.SubtractWithSaturation(d)); N(c.Max(d)); N(c.Min(d));
        N(c.CompareEqual(d)); N(c.CompareGreaterThan(d)); N(c.UnpackLow(d)); N(c.UnpackHigh(d)); Add((uint)c.ExtractByteMask());
        N(new Vector16sb(c.V7));
    }
    static void Words(Vector8s a, Vector8s b)
    {
        N(a + b); N(a - b); N(a * b); N(a >> 3); N(a << 5); N(a >> 15); N(a << 0); N(a & b); N(a | b); N(a ^ b); N(a == b);
        N(a.AddWithSaturation(b)); N(a.SubtractWithSaturation(b)); N(a.Max(b)); N(a.Min(b)); N(a.LogicalRightShift(4)); N(a.MultiplyStoreHigh(b));
        N(a.CompareEqual(b)); N(a.CompareGreaterThan(b)); N(a.UnpackLow(b)); N(a.UnpackHigh(b));
        N(a.ShuffleLow(ShuffleSel.RotateLeft)); N(a.ShuffleHigh(ShuffleSel.Swap)); N(a.PackWithSignedSaturation(b)); N(a.PackWithUnsignedSaturation(b));
        N(new Vector8s(a.V2)); a.V1 = b.V6; N(a);
        var c = (Vector8us)a; var d = (Vector8us)b;
        N(c + d); N(c - d); N(c * d); N(c >> 3); N(c << 5); N(c & d); N(c | d); N(c ^ d); N(c != d);
        N(c.AddWithSaturation(d)); N(c.SubtractWithSaturation(d)); N(c.Average(d)); N(c.Max(d)); N(c.Min(d)); N(c.ArithmeticRightShift(2));
        N(c.CompareEqual(d)); N(c.UnpackLow(d)); N(c.UnpackHigh(d)); N(c.ShuffleLow((ShuffleSel)0xb1)); N(c.ShuffleHigh((ShuffleSel)0x4e));
        N(c.SignedPackWithSignedSaturation(d)); N(c.SignedPackWithUnsignedSaturation(d)); N(c.MultiplyStoreHigh(d));
    }
    static void Ints(Vector4i a, Vector4i b)
    {
        N(a + b); N(a - b); N(a * b); N(a >> 7); N(a << 9); N(a & b); N(a | b); N(a ^ b); N(a == b); N(a.Max(b)); N(a.Min(b)); N(a.LogicalRightShift(31));
        N(a.CompareEqual(b)); N(a.CompareGreaterThan(b)); N(a.UnpackLow(b)); N(a.UnpackHigh(b)); N(a.Shuffle(ShuffleSel.RotateRight)); N(a.Shuffle(b, (ShuffleSel)0xd8));
        N(a.PackWithSignedSaturation(b)); N(a.PackWithUnsignedSaturation(b)); N(a.ConvertToFloat()); N(a.ConvertToDouble());
        N(new Vector4i(a.X)); a.Y = b.Z; a.W = a.X; N(a);
        var c = (Vector4ui)a; var d = (Vector4ui)b;
        N(c + d); N(c - d); N(c * d); N(c >> 7); N(c << 9); N(c & d); N(c | d); N(c ^ d); N(c == d); N(c.Max(d)); N(c.Min(d)); N(c.ArithmeticRightShift(4));
        N(c.CompareEqual(d)); N(c.UnpackLow(d)); N(c.UnpackHigh(d)); N(c.Shuffle((ShuffleSel)0x1e)); N(c.Shuffle(d, ShuffleSel.Swap));
        N(c.SignedPackWithSignedSaturation(d)); N(c.SignedPackWithUnsignedSaturation(d));
        for (int n = 0; n < 32; n += 5) { N(a << n); N(a >> n); N(c >> n); N(a.Shuffle((ShuffleSel)(n * 8))); }
    }
    static void Longs(Vector2l a, Vector2l b)
    {
        N(a + b); N(a - b); N(a << 33); N(a & b); N(a | b); N(a ^ b); N(a.LogicalRightShift(40)); N(a.CompareEqual(b)); N(a.CompareGreaterThan(b)); N(a.UnpackLow(b)); N(a.UnpackHigh(b)); N(a.Shuffle(b, 1));
        N(new Vector2l(a.Y)); a.X = b.Y; N(a);
        var c = (Vector2ul)a; var d = (Vector2ul)b;
        N(c + d); N(c - d); N(c << 33); N(c >> 5); N(c & d); N(c | d); N(c ^ d); N(c.CompareEqual(d)); N(c.UnpackLow(d)); N(c.UnpackHigh(d)); N(c.Shuffle(d, 2));
    }
    static void Floats(Vector4f a, Vector4f b)
    {
        N(a + b); N(a - b); N(a * b); N(a / b); N(a * 2.5f); N(1.5f * b); M(a & b); M(a | b); M(a ^ b); N(a == b); N(a != b); N(a == a);
        M(a.AndNot(b)); N(a.Sqrt()); N(a.Max(b)); N(a.Min(b)); N(a.HorizontalAdd(b)); N(a.HorizontalSub(b)); N(a.AddSub(b));
        M(a.CompareEqual(b)); M(a.CompareLessThan(b)); M(a.CompareLessEqual(b)); M(a.CompareUnordered(b)); M(a.CompareNotEqual(b)); M(a.CompareNotLessThan(b)); M(a.CompareNotLessEqual(b)); M(a.CompareOrdered(b));
        N(a.InterleaveHigh(b)); N(a.InterleaveLow(b)); N(a.DuplicateLow()); N(a.DuplicateHigh()); N(a.Shuffle(ShuffleSel.ExpandY)); N(a.Shuffle(b, ShuffleSel.RotateLeft)); N(a.ConvertToDouble());
        N(new Vector4f(a.Z)); a.X = b.Y; a.W = 3; N(a); N(Vector4f.One); N(Vector4f.Zero - a);
    }
    static void Doubles(Vector2d a, Vector2d b)
    {
        N(a + b); N(a - b); N(a * b); N(a / b); M(a & b); M(a | b); M(a ^ b);
        M(a.AndNot(b)); N(a.Sqrt()); N(a.Max(b)); N(a.Min(b)); N(a.HorizontalAdd(b)); N(a.HorizontalSub(b)); N(a.AddSub(b));
        M(a.CompareEqual(b)); M(a.CompareLessThan(b)); M(a.CompareLessEqual(b)); M(a.CompareUnordered(b)); M(a.CompareNotEqual(b)); M(a.CompareNotLessThan(b)); M(a.CompareNotLessEqual(b)); M(a.CompareOrdered(b));
        N(a.InterleaveHigh(b)); N(a.InterleaveLow(b)); N(a.Duplicate()); N(a.Shuffle(b, 1)); N(a.ConvertToFloat());
        N(new Vector2d(a.Y)); a.X = b.Y; N(a);
    }
    static void Tell(string what) { Console.WriteLine("{0} {1:x}", what, hash); hash = 14695981039346656037; }

    // A value in a loop that also reads and writes its lanes.
    static float Loop(int n)
    {
        var s = new Vector4f(0f, 1, 2, 3); var v = new Vector4f(1f, 2, 3, 4); var half = new Vector4f(0.5f);
        for (int i = 0; i < n; i++) { s = s * half + v; if (i % 3 == 0) s.Y = s.X + i; }
        return s.X + s.Y + s.Z * s.W;
    }

    static void Main()
    {
        for (int round = 0; round < 40; round++) Bytes(Any(), Any());
        Tell("bytes");
        for (int round = 0; round < 40; round++) Words((Vector8s)Any(), (Vector8s)Any());
        Tell("words");
        for (int round = 0; round < 40; round++) Ints((Vector4i)Any(), (Vector4i)Any());
        Tell("ints");
        for (int round = 0; round < 40; round++) Longs((Vector2l)Any(), (Vector2l)Any());
        Tell("longs");
        for (int round = 0; round < 40; round++) Floats(Float(), Float());
        Tell("floats");
        for (int round = 0; round < 40; round++) Doubles(Double(), Double());
        Tell("doubles");
        Console.WriteLine(Loop(1000));
        Console.WriteLine(counted);
    }
}
