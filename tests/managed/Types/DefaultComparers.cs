// EqualityComparer<T>.Default, called at once, kept, passed on, and in generic code; hash codes of enums.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

enum Tiny : sbyte { A = -3, B = 2 }
enum Byte8 : byte { A = 200, B = 2 }
enum Short : short { A = -300, B = 2 }
enum UShort : ushort { A = 60000, B = 2 }
enum Int { A = -70000, B = 2 }
enum UInt : uint { A = 4000000000, B = 2 }
enum Long : long { A = -5000000000, B = 2 }
enum ULong : ulong { A = 18000000000000000000, B = 2 }

struct Plain { public int X; public string S; }
struct Equatable : IEquatable<Equatable>
{
    public int X;
    public bool Equals(Equatable other) { Console.Write("(asked)"); return X % 10 == other.X % 10; }
    public override bool Equals(object o) { throw new NotSupportedException(); }
    public override int GetHashCode() { return X % 10; }
}
class Reference { public override bool Equals(object o) { return o is Reference; } public override int GetHashCode() { return 12; } }
class Derived : IEquatable<Derived> { public int N; public bool Equals(Derived d) { return d != null && N == d.N; } public override bool Equals(object o) { return false; } public override int GetHashCode() { return N; } }
struct Throwing : IEquatable<Throwing> { public bool Equals(Throwing t) { throw new InvalidOperationException("not comparable"); } }

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void All<T>(T a, T b)
    {
        bool same = EqualityComparer<T>.Default.Equals(a, a), different = EqualityComparer<T>.Default.Equals(a, b);
        var kept = EqualityComparer<T>.Default;
        bool again = kept.Equals(b, b);
        IEqualityComparer<T> passed = EqualityComparer<T>.Default;
        bool equalHash = passed.GetHashCode(a) == EqualityComparer<T>.Default.GetHashCode(a);
        bool one = ReferenceEquals(kept, EqualityComparer<T>.Default);
        string name = EqualityComparer<T>.Default.GetType().Name;
        Console.WriteLine("{0}: {1} {2} {3} {4} {5} {6}", typeof(T).Name, same, different, again, equalHash, one, name);
        Choose(true, a); Choose(false, b);
        var d = new Dictionary<T, int>();
        if (a != null) { d[a] = 1; d[b] = 2; Console.WriteLine("  {0} {1}", d.Count, d[a]); }
        Console.WriteLine("  {0} {1}", Array.IndexOf(new[] { b, a }, a), new List<T> { b, a }.Contains(a));
    }
    static void Choose<T>(bool which, T x)
    {
        // The comparer is on the stack over a branch.
        Console.WriteLine("  {0}", EqualityComparer<T>.Default.Equals(which ? x : default(T), x));
    }
    static int Hash<T>(T x) { return x.GetHashCode(); }

    static void Main()
    {
        All(1, 2); All<byte>(1, 2); All('a', 'b'); All(1L, -1L); All(1.5, double.NaN); All(true, false);
        All("a", "b"); All<object>("a", 3); All<string>(null, "x"); All((int?)3, (int?)null == null ? 4 : 5);
        All(Tiny.A, Tiny.B); All(Byte8.A, Byte8.B); All(Short.A, Short.B); All(UShort.A, UShort.B);
        All(Int.A, Int.B); All(UInt.A, UInt.B); All(Long.A, Long.B); All(ULong.A, ULong.B);
        All(new Plain { X = 1, S = "s" }, new Plain { X = 2 });
        All(new Equatable { X = 11 }, new Equatable { X = 1 });
        All(new Reference(), new Reference()); All(new Derived { N = 1 }, new Derived { N = 2 });
        All(DateTime.MinValue, DateTime.MaxValue); All(Guid.Empty, new Guid(1, 2, 3, new byte[8])); All(1m, 2m);
        try { EqualityComparer<Throwing>.Default.Equals(new Throwing(), new Throwing()); }
        catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        Console.WriteLine("{0} {1} {2} {3}", Hash(Int.A), Hash(UInt.A), Hash(Long.A), Hash(ULong.A));
        Console.WriteLine("{0} {1} {2} {3}", Hash(Tiny.A), Hash(Byte8.A), Hash(Short.A), Hash(UShort.A));
        Console.WriteLine("{0} {1}", Int.A.GetHashCode(), ((object)Int.A).GetHashCode());
        Console.WriteLine("{0} {1}", Long.A.GetHashCode(), ((object)Long.A).GetHashCode());
        int seven = 7, minus = -7;
        Console.WriteLine("{0} {1} {2} {3}", (seven & 0xff) % new int[3].Length, minus % new int[3].Length, (minus & 0x7fffffff) / new int[5].Length, (int)(uint)(ulong)(uint)minus % new int[4].Length);
        try { Console.WriteLine(seven % new int[0].Length); } catch (DivideByZeroException) { Console.WriteLine("by zero"); }
        try { Console.WriteLine(int.MinValue % minus.CompareTo(0)); } catch (OverflowException) { Console.WriteLine("overflow"); }
    }
}
