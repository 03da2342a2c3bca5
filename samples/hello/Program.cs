// A first look at Vervet: C# compiled by mcs, Debian's class libraries, and our runtime underneath.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;

static class Program
{
    [DllImport ("libc")]
    static extern IntPtr strlen (string text);

    static int Main ()
    {
        Console.WriteLine ("Hello from {0} (CLI {1}, {2}-bit)", RuntimeName (), Environment.Version, 8 * IntPtr.Size);

        // Generics and LINQ: lazy sequences over a user-defined iterator.
        var primes = Primes ().TakeWhile (p => p < 60).ToList ();
        Console.WriteLine ("Primes below 60:    {0}", string.Join (" ", primes));
        var byLastDigit = primes.GroupBy (p => p % 10).OrderBy (g => g.Key)
            .Select (g => $"{g.Key}:{g.Count ()}");
        Console.WriteLine ("By their last digit: {0}", string.Join ("  ", byLastDigit));

        // Value types behind an interface, without boxing in the loop.
        Console.WriteLine ("Area of all shapes: {0:F3}", Sum (new [] { new Circle (1), new Circle (2.5) }));

        // Exceptions, filters and finally blocks.
        try {
            checked { int n = int.MaxValue; n += primes.Count; }
        } catch (OverflowException e) when (e.Message.Length > 0) {
            Console.WriteLine ("Caught:             {0}", e.GetType ().Name);
        }

        // The class library: regular expressions, and a native function through P/Invoke.
        var words = Regex.Matches ("Vervet: a green monkey, and a runtime.", @"\b[a-z]+\b", RegexOptions.IgnoreCase)
            .Cast<Match> ().Select (m => m.Value.ToLowerInvariant ()).Distinct ().ToArray ();
        Console.WriteLine ("Words:              {0} (the longest: {1})", words.Length, words.OrderByDescending (w => w.Length).First ());
        Console.WriteLine ("strlen says:        {0}", (int) strlen ("four"));

        // Exceptions carry their traces through generic code and delegates.
        try {
            primes.ForEach (p => { if (p > 50) throw new InvalidOperationException ("too large: " + p); });
        } catch (InvalidOperationException e) {
            Console.WriteLine ("Caught:             {0} in {1}", e.Message, e.TargetSite.Name.Length > 0 ? "a lambda" : "?");
        }
        return 0;
    }

    static string RuntimeName ()
    {
        var type = Type.GetType ("Mono.Runtime");
        var method = type?.GetMethod ("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        return method == null ? "an unknown runtime" : (string) method.Invoke (null, null);
    }

    static IEnumerable<int> Primes ()
    {
        var found = new List<int> ();
        for (int n = 2; ; n++) {
            if (found.Any (p => n % p == 0)) continue;
            found.Add (n);
            yield return n;
        }
    }

    interface IShape { double Area { get; } }

    struct Circle : IShape
    {
        readonly double radius;
        public Circle (double radius) { this.radius = radius; }
        public double Area => Math.PI * radius * radius;
    }

    static double Sum<T> (IEnumerable<T> shapes) where T : IShape => shapes.Sum (s => s.Area);
}
