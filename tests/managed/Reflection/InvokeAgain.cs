// Calls through reflection after the first one of a method, which generated code makes: results, boxes, errors, traces, targets of other classes, proxies, aborts.
using System;
using System.Reflection;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;
using System.Threading;

class Base
{
    public int Number;
    public virtual string Describe(int a, string s) { return "Base" + a + s; }
    public void Set(int x) { Number = x; }
    public static object Null() { return null; }
    public static void Throw(string m) { throw new InvalidOperationException(m); }
    public static byte Sum(byte a, sbyte b, char c, short d, ushort e, long l) { return (byte)(a + b + c + d + e + l); }
    public static DayOfWeek Next(DayOfWeek d) { return d + 1; }
    public static bool Not(bool b) { return !b; }
    public static int Seven(int a, int b, int c, int d, int e, int f, int g) { return a + b + c + d + e + f + g; }
    public static double Twice(double d) { return d * 2; }
    public static Base Same(Base b) { return b; }
    public static ulong Increment(ulong u) { return u + 1; }
    public static int? Maybe(int? x) { return x; }
    public static sbyte Negative() { return -3; }
    public static char Character() { return 'x'; }
    public static string Caller() { return Assembly.GetCallingAssembly() == typeof(Base).Assembly ? "own" : "other"; }
    public static int Depth(int n) { return n == 0 ? 0 : 1 + (int)typeof(Base).GetMethod("Depth").Invoke(null, new object[] { n - 1 }); }
}
class Derived : Base { public override string Describe(int a, string s) { return "Derived" + a + s; } }
class Made
{
    public static int Finalized;
    public readonly int Number; public readonly string Text;
    public Made(int number, string text) { Number = number; Text = text; }
    public Made() { Number = -1; }
    ~Made() { Finalized++; }
}
static class Late { static Late() { Console.WriteLine("initialised"); } public static int Four() { return 4; } }
static class Fails { static Fails() { throw new Exception("no"); } public static int Four() { return 4; } }
public class Far : MarshalByRefObject { public int Number = 7; public virtual int Get() { return Number; } }
class Proxy : RealProxy
{
    public Proxy() : base(typeof(Far)) { }
    public override IMessage Invoke(IMessage m) { return new ReturnMessage(99, null, 0, null, (IMethodCallMessage)m); }
}

static class InvokeAgain
{
    static object Often(string name, object target, params object[] arguments)
    {
        object result = null;
        for (int i = 0; i < 5; i++) result = typeof(Base).GetMethod(name).Invoke(target, arguments);
        return result;
    }
    static void Try(Action action)
    {
        for (int i = 0; i < 3; i++)
            try { action(); }
            catch (TargetInvocationException e) { Console.WriteLine("{0}: {1}", e.InnerException.GetType(), e.InnerException.Message); }
            catch (Exception e) { Console.WriteLine("{0}: {1}", e.GetType(), e.Message); }
    }
    static readonly AutoResetEvent started = new AutoResetEvent(false);
    static void Wait() { started.Set(); for (;;) Thread.Sleep(10); }

    static void Main()
    {
        Console.WriteLine(Often("Describe", new Base(), 1, "x"));
        Console.WriteLine(Often("Describe", new Derived(), 1, "x"));
        Console.WriteLine(Often("Describe", new Base(), 2, null));
        var b = new Base();
        Console.WriteLine(Often("Set", b, 42) == null);
        Console.WriteLine(b.Number);
        Console.WriteLine(Often("Null", null) == null);
        foreach (var o in new[] {
            Often("Sum", null, (byte)1, (sbyte)-2, 'c', (short)-4, (ushort)5, 6L), Often("Next", null, DayOfWeek.Monday), Often("Not", null, true), Often("Not", null, false),
            Often("Seven", null, 1, 2, 3, 4, 5, 6, 7), Often("Twice", null, 1.5), Often("Increment", null, ulong.MaxValue), Often("Maybe", null, 3), Often("Negative", null),
            Often("Character", null), Often("Caller", null), Often("Depth", null, 50) })
            Console.WriteLine(o.GetType() + " " + o);
        Console.WriteLine(ReferenceEquals(Often("Same", null, b), b));
        Console.WriteLine(Often("Same", null, new object[] { null }) == null);

        MethodInfo set = typeof(Base).GetMethod("Set"), boom = typeof(Base).GetMethod("Throw");
        Try(() => boom.Invoke(null, new object[] { "thrown" }));
        try { boom.Invoke(null, new object[] { "thrown" }); }
        catch (TargetInvocationException e) { Console.WriteLine(e.InnerException.StackTrace.Contains("(wrapper managed-to-native) System.Reflection.RuntimeMethodInfo.InternalInvoke")); }
        Try(() => set.Invoke(b, new object[] { "text" }));
        Try(() => set.Invoke(b, new object[] { 1L }));
        Try(() => set.Invoke(b, new object[] { (short)5 }));
        Console.WriteLine(b.Number);
        Try(() => set.Invoke(null, new object[] { 1 }));
        Try(() => set.Invoke("text", new object[] { 1 }));
        Try(() => set.Invoke(b, new object[] { 1, 2 }));
        Try(() => set.Invoke(b, null));
        Try(() => typeof(Fails).GetMethod("Four").Invoke(null, null));
        for (int i = 0; i < 3; i++) Console.WriteLine(typeof(Late).GetMethod("Four").Invoke(null, null));

        var describe = typeof(Base).GetMethod("Describe");
        foreach (var o in new[] { new Base(), new Derived(), new Base(), new Derived() }) Console.WriteLine(describe.Invoke(o, new object[] { 1, "q" }));
        var get = typeof(Far).GetMethod("Get");
        var proxy = (Far)new Proxy().GetTransparentProxy();
        foreach (var o in new[] { new Far(), new Far(), proxy, new Far(), proxy }) Console.WriteLine(get.Invoke(o, null));

        var full = typeof(Made).GetConstructor(new[] { typeof(int), typeof(string) });
        var empty = typeof(Made).GetConstructor(Type.EmptyTypes);
        for (int i = 0; i < 4; i++) {
            var made = (Made)full.Invoke(new object[] { i, "s" + i });
            Console.WriteLine(made.Number + made.Text + ((Made)empty.Invoke(null)).Number);
            Console.WriteLine(empty.Invoke(made, null) == null);
            Console.WriteLine(made.Number);
        }
        Try(() => full.Invoke(new object[] { "text", null }));

        var arguments = new object[1];
        for (int i = 0; i < 100000; i++) {
            arguments[0] = i;
            set.Invoke(b, arguments);
            if (b.Number != i) throw new Exception("number " + b.Number);
        }
        long sum = 0;
        for (int i = 0; i < 100000; i++) {
            var made = (Made)full.Invoke(new object[] { i, "text" + i });
            if (made.Text != "text" + i) throw new Exception(made.Text);
            sum += made.Number;
        }
        Console.WriteLine(sum);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine(Made.Finalized > 0);

        var wait = typeof(InvokeAgain).GetMethod("Wait", BindingFlags.Static | BindingFlags.NonPublic);
        for (int i = 0; i < 3; i++) {
            var thread = new Thread(() => {
                try { wait.Invoke(null, null); }
                catch (ThreadAbortException) { Console.WriteLine("aborted"); Thread.ResetAbort(); }
            });
            thread.Start();
            started.WaitOne();
            thread.Abort();
            thread.Join();
        }
    }
}
