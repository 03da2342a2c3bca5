// What is known of a result that several paths of an inlined method bring: the same class on all of them, several classes, null on one, an argument.
// tiers: all
using System;
using System.Collections.Generic;

static class JoinedResults
{
    class Base { public virtual string Name() { return "Base"; } }
    class First : Base { public override string Name() { return "First"; } }
    class Second : Base { public override string Name() { return "Second"; } }
    class Third : First { public override string Name() { return "Third"; } }

    static Base Same(bool a) { if (a) return new First(); return new First(); }
    static Base Two(bool a) { if (a) return new First(); return new Second(); }
    static Base Derived(bool a) { if (a) return new First(); return new Third(); }
    static Base OrNull(bool a) { if (a) return new First(); return null; }
    static Base OrArgument(bool a, Base b) { if (a) return new First(); return b; }
    static First OrField(bool a) { if (a) return new First(); return field; }
    static First field = new Third();
    static Base Nested(bool a, bool b) { if (a) return Same(b); return Two(b); }
    static object Boxed(bool a) { if (a) return 5; return 5L; }
    static Base[] Arrays(bool a) { if (a) return new First[1]; return new Base[1]; }

    static string Call(Base b) { return b == null ? "null" : b.Name(); }
    static string Throws(bool a) { try { return OrNull(a).Name(); } catch (NullReferenceException) { return "threw"; } }
    static string Store(bool a) { try { var all = Arrays(a); all[0] = new Second(); return all[0].Name(); } catch (ArrayTypeMismatchException) { return "mismatch"; } }

    static IEnumerable<int> Walk(int n) { for (int i = 0; i < n; i++) yield return i; }
    static int Sum(int n) { int sum = 0; foreach (int i in Walk(n)) sum += i; return sum; }
    static int Twice(int n) { var walk = Walk(n); int sum = 0; foreach (int i in walk) foreach (int j in walk) sum += i * j; return sum; }

    static void Main()
    {
        foreach (bool a in new[] { true, false })
        {
            Console.WriteLine(Same(a).Name() + " " + Two(a).Name() + " " + Derived(a).Name() + " " + Call(OrNull(a)) + " " + Throws(a));
            Console.WriteLine(OrArgument(a, new Second()).Name() + " " + OrField(a).Name() + " " + Nested(a, true).Name() + " " + Nested(a, false).Name());
            Console.WriteLine(Boxed(a).GetType() + " " + (Boxed(a) is int) + " " + (Same(a) is Third) + " " + (Derived(a) is Third) + " " + Store(a));
        }
        Console.WriteLine(Sum(10) + " " + Twice(5));
    }
}
