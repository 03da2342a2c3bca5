// Ten thousand frames, each with references of its own, while it collects at the bottom and on the way back.
using System;
using System.Threading;

static class DeepStack
{
    struct Held { public string A; public object B; }
    static object garbage;
    static void Churn(int generation) { for (int i = 0; i < 5000; i++) garbage = new object[i % 9]; GC.Collect(generation); }

    static int wrong;
    static long Down(int depth, string above)
    {
        string own = "depth " + depth;
        var array = new[] { depth, depth + 1 };
        var held = new Held { A = own, B = depth };
        if (depth == 0) { Churn(0); Churn(1); Churn(0); return 0; }
        long below = Down(depth - 1, own);
        if (depth % 1000 == 0) Churn(depth % 2000 == 0 ? 1 : 0);
        if (own != "depth " + depth || array[1] != depth + 1 || held.A != own || (int)held.B != depth || above != "depth " + (depth + 1)) wrong++;
        return below + array[0];
    }

    static void Main()
    {
        Console.WriteLine(Down(5000, "depth 5001") + " " + wrong);      // expect: 12502500 0
        long sum = 0;
        var t = new Thread(() => sum = Down(10000, "depth 10001"), 64 << 20);
        t.Start();
        t.Join();
        Console.WriteLine(sum + " " + wrong);                           // expect: 50005000 0
    }
}
