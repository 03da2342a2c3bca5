// Methods that call nothing have no frame; when one of them throws, the exception leaves it as it would leave any other, and traces name it.
using System;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;

class Leaves
{
    class Box { public int Value; public int[] Items = { 1, 2, 3 }; }

    abstract class Reader { public abstract int Read(Box box, int by); }
    class Divides : Reader { public override int Read(Box box, int by) { return box.Value / by; } }
    class Indexes : Reader { public override int Read(Box box, int by) { return box.Items[by]; } }
    class Adds : Reader { public override int Read(Box box, int by) { return checked(box.Value + by); } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Try(Reader reader, Box box, int by)
    {
        try {
            return reader.Read(box, by).ToString();
        } catch (Exception e) {
            var frames = new StackTrace(e, false).GetFrames().Select(f => f.GetMethod().DeclaringType.Name + "." + f.GetMethod().Name);
            return e.GetType().Name + " in " + string.Join(" < ", frames);
        }
    }

    // The leaf's caller has values in registers and on the stack that are needed behind the throw.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Around(Reader reader, Box box, int by, long a, long b, long c, long d)
    {
        long sum = a * 3 + b * 5;
        try { sum += reader.Read(box, by) * c; } catch (NullReferenceException) { sum += d; } catch (ArithmeticException) { sum += 2 * d; } finally { sum += c; }
        return sum + a - b;
    }

    delegate int Two(int a, int b);

    static int Quotient(int a, int b) { return a / b; }
    int offset = 7;
    int Shifted(int a, int b) { return a + b + offset; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Call(Two two, int a, int b)
    {
        try {
            return two(a, b).ToString();
        } catch (Exception e) {
            return e.GetType().Name;
        }
    }

    static void Main()
    {
        var box = new Box { Value = 84 };
        Reader[] all = { new Divides(), new Indexes(), new Adds() };
        foreach (var reader in all) Console.WriteLine(Try(reader, box, 2));
        // expect: 42
        // expect: 3
        // expect: 86
        Console.WriteLine(Try(all[0], box, 0)); // expect: DivideByZeroException in Divides.Read < Leaves.Try
        Console.WriteLine(Try(all[0], null, 1)); // expect: NullReferenceException in Divides.Read < Leaves.Try
        Console.WriteLine(Try(all[1], box, 3)); // expect: IndexOutOfRangeException in Indexes.Read < Leaves.Try
        Console.WriteLine(Try(all[2], box, int.MaxValue)); // expect: OverflowException in Adds.Read < Leaves.Try
        Console.WriteLine(Try(all[2], null, 0)); // expect: NullReferenceException in Adds.Read < Leaves.Try
        long total = 0;
        for (int i = 0; i < 20000; i++) total += Around(all[i % 3], i % 7 == 0 ? null : box, i % 5 == 0 ? 0 : 1, i, 2, 3, 4);
        Console.WriteLine(total); // expect: 802836967

        Console.WriteLine(Call(Quotient, 84, 2)); // expect: 42
        Console.WriteLine(Call(Quotient, 84, 0)); // expect: DivideByZeroException
        Console.WriteLine(Call(new Leaves().Shifted, 1, 2)); // expect: 10
        var open = (Two)Delegate.CreateDelegate(typeof(Two), null, typeof(Leaves).GetMethod("Quotient", (System.Reflection.BindingFlags)(-1)));
        Console.WriteLine(Call(open, 9, 3) + " " + Call(open, 9, 0)); // expect: 3 DivideByZeroException
        Two both = Quotient;
        both += new Leaves().Shifted;
        Console.WriteLine(Call(both, 9, 3) + " " + Call(both, 9, 0)); // expect: 19 DivideByZeroException
    }
}
