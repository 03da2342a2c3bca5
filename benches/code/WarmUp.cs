// How long a program takes until its code is as fast as it becomes: twenty of the programs, small, again and again for some seconds.
//
// The peak is the tenth of the rounds' times that no more than a tenth of them stay below. It is reached when ten rounds in a row take at most a tenth more, on average;
// what the rounds before took beyond the peak is lost.
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

static partial class Programs
{
    internal static long Round()
    {
        return NBody(4000) + Fannkuch(7) + SpectralNorm(60) + Mandelbrot(60) + BinaryTrees(9) + KNucleotide(2000) + ReverseComplement(40000) + RegexRedux(6000) + PiDigits(60)
            + RayTracer(20) + Interpreter(10000) + Text(1000) + JsonParse(100) + Linq(2000) + Collections(4000) + Matrices(30) + Sieve(60000) + SortBy(1000) + Fib(18) + Iterators(20000);
    }
}

static class WarmUp
{
    static void Main(string[] args)
    {
        double seconds = Bench.Argument(args, 0, 6);
        var times = new List<double>();
        var clock = Stopwatch.StartNew();
        double last = 0;
        long expected = 0;
        while (last < seconds * 1000) {
            long got = Programs.Round();
            if (times.Count == 0) expected = got;
            Bench.Check(got == expected, "warm-up");
            double now = clock.Elapsed.TotalMilliseconds;
            times.Add(now - last);
            last = now;
        }
        double peak = times.OrderBy(t => t).ElementAt(times.Count / 10), reached = 0, lost = 0, ten = 0;
        for (int i = 0; i < times.Count; i++) {
            reached += times[i];
            lost += times[i] - peak;
            ten += times[i] - (i < 10 ? 0 : times[i - 10]);
            if (i >= 9 && ten <= 11 * peak) break;
        }
        Bench.Figure("warm-up-first", times[0], "ms");
        Bench.Figure("warm-up-reached", reached, "ms");
        Bench.Figure("warm-up-lost", lost, "ms");
        Bench.Figure("warm-up-peak", peak, "ms");
    }
}
