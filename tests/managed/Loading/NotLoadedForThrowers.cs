// An assembly that only a block which throws refers to, in a method that is inlined and has other code, is not loaded while the block does not run.
// mcs: -r:System.Transactions.dll
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class NotLoadedForThrowers
{
    static int M(int x, int y, int z) { if (x < 0) { int q = x * y + z; q = q * 3 - y; q ^= z * 7; q += System.Transactions.Transaction.Current.GetHashCode(); throw new Exception("a" + q); } return x + y; }
    static int Q(int k, int i) { if (k > 5) { return M(i, k, i); } return i & 3; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Run(int k) { int s = 0; for (int i = 0; i < 20000; i++) { s += Q(k, i); } return s; }

    static void Main(string[] args)
    {
        AppDomain.CurrentDomain.AssemblyLoad += (s, e) => Console.WriteLine("load " + e.LoadedAssembly.GetName().Name);
        Console.WriteLine("run");
        Console.WriteLine(Run(args.Length));
        Thread.Sleep(100);
        Console.WriteLine(Run(args.Length));
    }
}
