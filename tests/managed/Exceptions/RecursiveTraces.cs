// The trace of a recursion through two methods names each frame in turn, though a walk keeps what it has unpacked of the addresses that it meets again.
using System;
using System.Runtime.CompilerServices;
static class RecursiveTraces {
  [MethodImpl(MethodImplOptions.NoInlining)] static int A(int n) { if (n == 0) throw new Exception("x"); return B(n - 1) + 1; }
  [MethodImpl(MethodImplOptions.NoInlining)] static int B(int n) { if (n == 0) throw new Exception("x"); return A(n - 1) + 1; }
  static string one;
  static void Main() {
    // A recursion through two methods: the trace names each frame, in turn, with its own offset.
    try { A(301); } catch (Exception e) { one = e.StackTrace; }
    var lines = one.Split('\n'); int wrong = 0;
    for (int i = 0; i < 301; i++) if (!lines[i].Contains(i % 2 == 0 ? "RecursiveTraces.B" : "RecursiveTraces.A")) wrong++;
    Console.WriteLine(lines.Length + " " + wrong); // expect: 303 0
  }
}
