// Code that notes receivers is written as bytes, read and run: it names its cells and its counter.
// env: VERVET_CACHE=convert
// expect: 40000 90000
using System;

abstract class Node { public abstract int Value(); }
class One : Node { public override int Value() { return 1; } }
class Two : Node { public override int Value() { return 2; } }
class Three : Node { public override int Value() { return 3; } }
class Four : Node { public override int Value() { return 4; } }

static class KeptCells
{
    static int Sum(Node node, int n) { int sum = 0; for (int i = 0; i < n; i++) sum += node.Value(); return sum; }

    static void Main()
    {
        foreach (var node in new Node[] { new One(), new Two(), new Three(), new Four() }) node.Value();
        int ones = 0;
        for (int i = 0; i < 40; i++) ones += Sum(new One(), 1000);
        Console.WriteLine("{0} {1}", ones, Sum(new Two(), 15000) + Sum(new Four(), 15000));
    }
}
