// A context-static field has a value for each context: the default one of a domain, which all threads share, and that of each context-bound object. Initialisers set
// that of the context in which the class constructor runs.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.Remoting.Contexts;
using System.Threading;

struct Pair { public long Number; public string Text; }

[Synchronization]
class Bound : ContextBoundObject
{
    [ContextStatic] public static int Number;
    [ContextStatic] public static string Text;
    [ContextStatic] public static Pair Both;
    public static int Shared;
    public void Set(int n)
    {
        Number = n;
        Shared = n;
        Text = "text " + n;
        Both.Text = "both " + n;
        Both.Number += n;
    }
    public string Get() { return Number + " " + (Text ?? "none") + " " + Both.Number + " " + (Both.Text ?? "none"); }
    public int Increment() { return Interlocked.Increment(ref Number); }
}

class Generic<T>
{
    [ContextStatic] public static T Value;
}

static class ContextStatics
{
    [ContextStatic] static int initialised = 5;
    [ContextStatic] static object kept;

    static string Here() { return Bound.Number + " " + (Bound.Text ?? "none") + " " + Bound.Both.Number + " " + (Bound.Both.Text ?? "none"); }

    // Contexts come and go; what their statics held is taken, and the default context's stays.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Many()
    {
        for (int i = 0; i < 50; i++) {
            var bound = new Bound();
            bound.Set(i);
            if (i % 10 == 0) GC.Collect();
            if (bound.Get() != i + " text " + i + " " + i + " both " + i) Console.WriteLine(bound.Get());
        }
    }

    static void Main()
    {
        var one = new Bound();
        var two = new Bound();
        one.Set(1);
        two.Set(2);
        two.Set(3);
        Console.WriteLine(one.Get()); // expect: 1 text 1 1 both 1
        Console.WriteLine(two.Get()); // expect: 3 text 3 5 both 3
        Console.WriteLine(Here() + " " + Bound.Shared); // expect: 0 none 0 none 3
        Bound.Number = 10;
        Console.WriteLine(one.Increment() + " " + one.Increment() + " " + Bound.Number); // expect: 2 3 10

        Console.WriteLine(initialised); // expect: 5
        kept = "kept";
        var thread = new Thread(() => {
            Console.WriteLine(Bound.Number + " " + initialised + " " + one.Get()); // expect: 10 5 3 text 1 1 both 1
            Bound.Number = 11;
        });
        thread.Start();
        thread.Join();
        Console.WriteLine(Bound.Number); // expect: 11

        Generic<int>.Value = 4;
        Generic<string>.Value = "four";
        Console.WriteLine(Generic<int>.Value + Generic<string>.Value); // expect: 4four

        var field = typeof(Bound).GetField("Number");
        field.SetValue(null, 44);
        Console.WriteLine(field.GetValue(null) + " " + Bound.Number + " " + two.Get()); // expect: 44 44 3 text 3 5 both 3

        Many();
        GC.Collect();
        Console.WriteLine(kept + " " + one.Get()); // expect: kept 3 text 1 1 both 1

        // Another domain has its own classes, and contexts.
        for (int i = 0; i < 3; i++) {
            var domain = AppDomain.CreateDomain("other");
            domain.DoCallBack(() => {
                Bound.Number++;
                Bound.Text += "x";
                var there = new Bound();
                there.Set(7);
                Console.WriteLine(Bound.Number + Bound.Text + " " + there.Get());
            });
            AppDomain.Unload(domain);
        }
        // expect: 1x 7 text 7 7 both 7
        // expect: 1x 7 text 7 7 both 7
        // expect: 1x 7 text 7 7 both 7
        Console.WriteLine(Bound.Number + " " + two.Get()); // expect: 44 3 text 3 5 both 3
    }
}
