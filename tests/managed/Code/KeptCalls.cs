// Small methods that call others are inlined, and a method into itself: results, order and traces are as if they were called.
using System;
using System.Diagnostics;
using System.Reflection;
using System.Runtime.CompilerServices;

class Deep : Exception { public Deep(string m) : base(m) { } }
abstract class Node { public Node Next; public abstract int Sum(int by); public int Total() { return Next == null ? 0 : Next.Sum(1) + 1; } }
class Link : Node { public override int Sum(int by) { return by + Total(); } }
static class Order
{
    public static string Log = "";
    static Order() { Log += "[cctor]"; }
    public static int Note(int x) { Log += x + " "; return x; }
    public static int Both(int x) { return Note(x) * 10 + Note(x + 1); }
}

static class KeptCalls
{
    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
    static bool Even(int n) { return n == 0 || Odd(n - 1); }
    static bool Odd(int n) { return n != 0 && Even(n - 1); }
    static int Down(int n) { if (n == 0) throw new Deep("bottom"); return Down(n - 1) + 1; }
    static int Divide(int n) { return n == 0 ? Zero(n) : Divide(n - 1); }
    static int Zero(int n) { return 1 / n; }
    [MethodImpl(MethodImplOptions.NoInlining)] static string Who() { return new StackFrame(1).GetMethod().Name + "<" + new StackFrame(2).GetMethod().Name; }
    static string Wrapper() { return Who(); }
    static string Outer() { return Wrapper(); }
    static string Me() { return MethodBase.GetCurrentMethod().Name; }
    static string Asks() { return Me() + (Assembly.GetExecutingAssembly() == typeof(Order).Assembly); }
    static void Swap(ref int a, ref int b) { int t = Twice(ref a); a = b; b = t; }
    static int Twice(ref int x) { x *= 2; return x; }
    static object Boxed(object o) { return Same(o) ?? Same("none"); }
    [MethodImpl(MethodImplOptions.NoInlining)] static object Same(object o) { return o; }
    static int Count(string trace, string what) { int n = 0; for (int at = trace.IndexOf(what); at >= 0; at = trace.IndexOf(what, at + 1)) n++; return n; }

    static void Main()
    {
        for (int i = 0; i < 2; i++) {
            Console.WriteLine(Fib(20) + " " + Even(1001) + " " + Odd(1001));
            foreach (int n in new[] { 0, 1, 2, 7 }) {
                try { Down(n); } catch (Deep e) { Console.WriteLine(e.Message + " " + Count(e.StackTrace, "KeptCalls.Down")); }
                try { Divide(n); } catch (DivideByZeroException e) { Console.WriteLine(Count(e.StackTrace, "KeptCalls.Divide")); }
            }
            Console.WriteLine(Outer() + " " + Asks());
            int a = 3, b = 4; Swap(ref a, ref b); Console.WriteLine(a + " " + b + " " + Boxed(null) + Boxed(1));
            Console.WriteLine(new Link { Next = new Link { Next = new Link() } }.Total());
            try { ((Node)null).Total(); } catch (NullReferenceException) { Console.WriteLine("null"); }
            Console.WriteLine(Order.Both(1) + Order.Log);
        }
    }
}
