// Tokens of parameters are counted from the first row of their method, also where that is the row of what it returns; and of two indexers of a class that have
// no accessor in common, one is listed.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

[AttributeUsage(AttributeTargets.All)]
class Marked : Attribute { }

class Indexed<K, V>
{
    public V this[K key] { set { } }
    public int this[int index] { get { return 0; } }
}

class Both<K, V>
{
    public V this[K key] { get { return default(V); } }
    public K this[V key] { get { return default(K); } }
}

static class CountedParameters
{
    public static int Plain(int a, int b) { return 0; }
    [return: Marked] public static int Returns([Marked] int a, int b) { return 0; }
    public static int Next(int a) { return 0; }

    static void Print(string name, int first)
    {
        var method = typeof(CountedParameters).GetMethod(name);
        Console.WriteLine("{0}: {1:x} {2} {3}", name, method.ReturnParameter.MetadataToken,
            string.Join(" ", method.GetParameters().Select(p => p.MetadataToken - first)),
            string.Join(" ", method.GetParameters().Select(p => p.IsDefined(typeof(Marked), false))));
    }

    static void Main()
    {
        int first = typeof(CountedParameters).GetMethod("Plain").GetParameters()[0].MetadataToken;
        Print("Plain", first); // expect: Plain: 8000000 0 1 False False
        Print("Returns", first); // expect: Returns: 8000000 2 3 True False
        Print("Next", first); // expect: Next: 8000000 5 False
        Console.WriteLine(string.Join("; ", typeof(Indexed<,>).GetProperties().Select(p => p.ToString())));
        // expect: V Item [K]
        Console.WriteLine(string.Join("; ", typeof(Both<int, int>).GetProperties().Select(p => p.ToString())));
        // expect: Int32 Item [Int32]; Int32 Item [Int32]
    }
}
