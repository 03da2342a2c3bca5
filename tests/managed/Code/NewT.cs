// `new T()`: plain constructors run in place, all others as reflection runs them, and nobody can tell the difference.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;

class NewT
{
    class Plain { public int Number = 5; public string Text = "text"; public double Half = 0.5; public long Long = -1; public object Nothing = null; }
    class Derived : Plain { public Part Part = new Part(); }
    class Part { public int Value = 7; }
    class Generic<T> { public T Value; public Plain Inner = new Plain(); }
    class Says { public Says() { Console.Write("says "); } }
    class OverSays : Says { public int Value = 1; }
    class Counts { public static int Made; public int Number; public Counts() { Number = ++Made; } }
    class Throws { public Throws() { throw new InvalidOperationException("thrown"); } }
    class OverThrows : Throws { }
    class Initialised { static Initialised() { Console.Write("initialised "); } public int Value = 3; }
    class Fails { static int zero = 0; public static int Value = 1 / zero; static Fails() { } }
    class Hidden { Hidden() { } }
    class WithArgument { public WithArgument(int i) { } }
    abstract class Abstract { public Abstract() { } }
    class Endless { public Endless Next = new Endless(); }
    class Finalized { ~Finalized() { } public int Value = 9; }
    class Remotable : MarshalByRefObject { public int Value = 4; }
    struct Pair { public int A; public string B; }
    enum Colour { Red, Green }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static T New<T>() where T : new() { return new T(); }

    static string Try<T>()
    {
        try {
            object made = Activator.CreateInstance<T>();
            return typeof(T).Name + " " + (made ?? "null");
        } catch (Exception e) {
            return typeof(T).Name + " " + e.GetType().Name + (e.InnerException == null ? "" : " of " + e.InnerException.GetType().Name);
        }
    }

    static void Main(string[] args)
    {
        var plain = New<Plain>();
        Console.WriteLine("{0} {1} {2} {3} {4}", plain.Number, plain.Text, plain.Half, plain.Long, plain.Nothing == null); // expect: 5 text 0.5 -1 True
        var derived = New<Derived>();
        Console.WriteLine("{0} {1} {2}", derived.Number, derived.Part.Value, derived.GetType().Name); // expect: 5 7 Derived
        Console.WriteLine(New<Generic<string>>().Inner.Text + New<Generic<int>>().Value); // expect: text0
        Console.WriteLine(New<OverSays>().Value); // expect: says 1
        Console.WriteLine(New<Counts>().Number + New<Counts>().Number); // expect: 3
        Console.WriteLine(New<Initialised>().Value + New<Initialised>().Value); // expect: initialised 6
        Console.WriteLine(New<Finalized>().Value + New<Remotable>().Value); // expect: 13
        var pair = New<Pair>();
        Console.WriteLine("{0} {1} {2} {3} {4}", pair.A, pair.B == null, New<int>(), New<Colour>(), New<DateTime>() == default(DateTime)); // expect: 0 True 0 Red True
        Console.WriteLine("{0} {1}", New<int?>() == null, New<KeyValuePair<string, Pair>>().Value.A); // expect: True 0
        Console.WriteLine(ReferenceEquals(New<object>(), New<object>()) + " " + New<List<int>>().Count); // expect: False 0
        if (args.Length > 100) New<Endless>();

        Console.WriteLine(Try<Throws>()); // expect: Throws TargetInvocationException of InvalidOperationException
        Console.WriteLine(Try<OverThrows>()); // expect: OverThrows TargetInvocationException of InvalidOperationException
        Console.WriteLine(Try<Fails>()); // expect: Fails TargetInvocationException of TypeInitializationException
        Console.WriteLine(Try<Hidden>()); // expect: Hidden MissingMethodException
        Console.WriteLine(Try<WithArgument>()); // expect: WithArgument MissingMethodException
        Console.WriteLine(Try<Abstract>()); // expect: Abstract MissingMethodException
        Console.WriteLine(Try<IDisposable>()); // expect: IDisposable MissingMethodException
        Console.WriteLine(Try<string>() + ", " + Try<int[]>() + ", " + Try<Action>());
        // expect: String MissingMethodException, Int32[] MissingMethodException, Action MissingMethodException
        Console.WriteLine(Try<int?>() + ", " + Try<Pair>() + ", " + Try<Part>()); // expect: Nullable`1 null, Pair NewT+Pair, Part NewT+Part
    }
}
