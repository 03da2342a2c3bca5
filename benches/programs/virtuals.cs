using System;

static class Bench
{
    interface IOp { int Do (int x); } sealed class Inc : IOp { public int Do (int x) { return x + 1; } } sealed class Mix : IOp { public int Do (int x) { return x * 31 ^ 7; } }
    static void Main () { var ops = new IOp [] { new Inc (), new Mix (), new Inc () }; int v = 1; for (int i = 0; i < 300000000; i++) v = ops [i % 3].Do (v); Console.WriteLine (v); }
}
