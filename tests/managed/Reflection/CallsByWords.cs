// tiers: all
// Calls through reflection, each made several times: the first finds out how the next are made. Parameters and results of all types, virtual methods, constructors, and what is thrown.
using System;
using System.Reflection;
using System.Threading;

static class CallsByWords
{
    enum Small : sbyte { Least = -128, One = 1 }
    enum Large : ulong { Most = ulong.MaxValue }
    struct Pair { public int a, b; public Pair(int a, int b) { this.a = a; this.b = b; } public int Sum() { return a + b; } public override string ToString() { return a + ":" + b; } }
    struct One { public short n; }
    class Base { public virtual string Name(int n) { return "base " + n; } public string Plain(object o) { return GetType().Name + " " + o; } protected internal int field; }
    class Derived : Base { public override string Name(int n) { return "derived " + n; } public Derived() { field = 5; } public Derived(int n, string s) { field = n; if (s == "throw") throw new InvalidOperationException(s); } }
    interface IThing { int Twice(int n); }
    class Thing : IThing { int IThing.Twice(int n) { return 2 * n; } }
    abstract class Abstract { public abstract int Value(); }
    class Concrete : Abstract { public override int Value() { return 42; } }
    class Remote : MarshalByRefObject { public int n; public Remote(int n) { this.n = n; } public int Get(int m) { return n + m; } }
    class Bound : ContextBoundObject { public int Get(int m) { return m; } }
    static class Holder<T> { public static T Same(T t) { return t; } }

    public static int Ints(int a, int b) { return a - b; }
    public static long Many(byte a, sbyte b, short c, ushort d, char e, long f) { return a + b + c + d + e + f; }
    public static long More(byte a, sbyte b, short c, ushort d, char e, long f, uint g) { return a + b + c + d + e + f + g; }
    public static bool Not(bool b) { return !b; }
    public static byte Byte(byte b) { return (byte)(b + 1); }
    public static sbyte SByte(sbyte b) { return (sbyte)(b - 1); }
    public static short Short(short s) { return (short)-s; }
    public static ushort UShort(ushort s) { return (ushort)(s + 1); }
    public static char Char(char c) { return (char)(c + 1); }
    public static uint UInt(uint n) { return n + 1; }
    public static ulong ULong(ulong n) { return n + 1; }
    public static float Float(float f) { return f / 2; }
    public static double Double(double d) { return d / 2; }
    public static decimal Decimal(decimal d) { return d / 2; }
    static Small Enum(Small s) { return s; }
    static Large Enum64(Large s) { return s; }
    static Pair Struct(Pair p) { return new Pair { a = p.b, b = p.a }; }
    static One Wrapped(One o) { o.n++; return o; }
    public static int? Nullable(int? n) { return n + 1; }
    public static IntPtr Pointer(IntPtr p) { return new IntPtr(p.ToInt64() + 1); }
    public static string Text(string s) { return s == null ? "null" : s + "!"; }
    public static object Object(object o) { return o; }
    public static Array Vector(int[] v) { return v; }
    public static void Nothing(int n) { field = n; }
    public static void Ref(ref int n, out string s) { n++; s = "out " + n; }
    public static int Throw(string s) { throw new InvalidOperationException(s); }
    public static T Generic<T>(T t) { return t; }
    public static int Optional(int n = 7) { return n; }
    public static object Missing(object o = null) { return o == System.Reflection.Missing.Value ? "missing" : o; }
    static int field;

    static void Call(string name, object target, MethodBase method, params object[] args)
    {
        for (int round = 0; round < 4; round++)
        {
            try
            {
                object result = method is ConstructorInfo && target == null ? ((ConstructorInfo)method).Invoke(args) : method.Invoke(target, args);
                Console.WriteLine("{0}: {1} {2} [{3}]", name, result ?? "null", result == null ? "" : result.GetType().Name, args == null ? "" : string.Join(",", args));
            }
            catch (TargetInvocationException e) { Console.WriteLine("{0}: {1}: {2}: {3}", name, e.GetType().Name, e.InnerException.GetType().Name, e.InnerException.Message); }
            catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", name, e.GetType().Name, e.Message.Replace('\n', '|')); }
        }
    }

    static MethodInfo M(string name) { return typeof(CallsByWords).GetMethod(name, BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic); }

    static void Main()
    {
        Call("ints", null, M("Ints"), 5, 7);
        Call("many", null, M("Many"), (byte)200, (sbyte)-100, (short)-3000, (ushort)60000, 'x', long.MinValue);
        Call("more", null, M("More"), (byte)200, (sbyte)-100, (short)-3000, (ushort)60000, 'x', 1L << 40, uint.MaxValue);
        Call("bool", null, M("Not"), true);
        Call("byte", null, M("Byte"), (byte)255);
        Call("sbyte", null, M("SByte"), (sbyte)-128);
        Call("short", null, M("Short"), (short)300);
        Call("ushort", null, M("UShort"), ushort.MaxValue);
        Call("char", null, M("Char"), 'a');
        Call("uint", null, M("UInt"), uint.MaxValue - 1);
        Call("ulong", null, M("ULong"), ulong.MaxValue - 1);
        Call("float", null, M("Float"), 3f);
        Call("double", null, M("Double"), 3.0);
        Call("decimal", null, M("Decimal"), 3m);
        Call("enum", null, M("Enum"), Small.Least);
        Call("enum of its number", null, M("Enum"), (sbyte)1);
        Call("large enum", null, M("Enum64"), Large.Most);
        Call("struct", null, M("Struct"), new Pair { a = 1, b = 2 });
        Call("wrapped", null, M("Wrapped"), new One { n = 5 });
        Call("nullable", null, M("Nullable"), 5);
        Call("nullable null", null, M("Nullable"), new object[] { null });
        Call("pointer", null, M("Pointer"), new IntPtr(5));
        Call("text", null, M("Text"), "a");
        Call("text null", null, M("Text"), new object[] { null });
        Call("object", null, M("Object"), 5);
        Call("vector", null, M("Vector"), new int[2]);
        Call("nothing", null, M("Nothing"), 9);
        Console.WriteLine(field);
        Call("ref", null, M("Ref"), 1, null);
        Call("throw", null, M("Throw"), "text");
        Call("generic", null, M("Generic").MakeGenericMethod(typeof(int)), 5);
        Call("generic text", null, M("Generic").MakeGenericMethod(typeof(string)), "t");
        Call("generic open", null, M("Generic"), 5);
        Call("of generic", null, typeof(Holder<long>).GetMethod("Same"), 5L);
        Call("optional", null, M("Optional"), Type.Missing);
        Call("missing", null, M("Missing"), Type.Missing);
        Call("widening", null, M("Many"), (byte)1, (sbyte)1, (short)1, (ushort)1, 'x', 5);
        Call("null for int", null, M("Ints"), null, 7);
        Call("wrong", null, M("Ints"), "x", 7);
        Call("too few", null, M("Ints"), 5);
        Call("none", null, M("Ints"), (object[])null);
        Call("virtual", new Base(), typeof(Base).GetMethod("Name"), 3);
        Call("override", new Derived(), typeof(Base).GetMethod("Name"), 3);
        Call("inherited", new Derived(), typeof(Base).GetMethod("Plain"), "x");
        Call("wrong target", "text", typeof(Base).GetMethod("Plain"), "x");
        Call("no target", null, typeof(Base).GetMethod("Plain"), "x");
        Call("interface", new Thing(), typeof(IThing).GetMethod("Twice"), 4);
        Call("abstract", new Concrete(), typeof(Abstract).GetMethod("Value"));
        Call("of a struct", new Pair { a = 3, b = 4 }, typeof(Pair).GetMethod("Sum"));
        Call("ToString of int", 5, typeof(object).GetMethod("ToString"));
        Call("GetHashCode of text", "", typeof(object).GetMethod("GetType"));
        Call("constructor", null, typeof(Derived).GetConstructor(Type.EmptyTypes));
        Call("constructor with arguments", null, typeof(Derived).GetConstructors()[1], 5, "x");
        Call("constructor that throws", null, typeof(Derived).GetConstructors()[1], 5, "throw");
        Call("constructor on an object", new Derived(1, ""), typeof(Derived).GetConstructors()[1], 5, "x");
        Call("constructor of a struct", null, typeof(Pair).GetConstructors()[0], 5, 6);
        Call("constructor of text", null, typeof(string).GetConstructor(new[] { typeof(char), typeof(int) }), 'x', 3);
        Call("remote", null, typeof(Remote).GetConstructors()[0], 5);
        Call("on remote", new Remote(3), typeof(Remote).GetMethod("Get"), 4);
        Call("bound", null, typeof(Bound).GetConstructors()[0]);
        Call("on bound", new Bound(), typeof(Bound).GetMethod("Get"), 4);
        Call("property", "abc", typeof(string).GetProperty("Length").GetGetMethod());

        // An argument that another thread replaces meanwhile is refused, or is what the method takes: an Invoke looks at it once more. (Under mono the method may get what it
        // does not take, so that the outcome is no line of this output.)
        var args = new object[] { "text" };
        bool stop = false;
        var writer = new Thread(() =>
        {
            object[] others = { "text", 5, new Pair(), null, new int[3] };
            for (int i = 0; !Volatile.Read(ref stop); i++)
                args[0] = others[i % others.Length];
        });
        writer.Start();
        var same = typeof(Holder<string>).GetMethod("Same");
        int wrong = 0;
        for (int i = 0; i < 20000; i++)
        {
            try
            {
                object s = same.Invoke(null, args);
                if (s != null && s.GetType() != typeof(string))
                    wrong++;
            }
            catch (ArgumentException) { }
            // Refused by what makes the call.
            catch (TargetInvocationException e) when (e.InnerException is ArgumentException) { }
        }
        stop = true;
        writer.Join();
        if (wrong > 0 && Type.GetType("Mono.Runtime").GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static).Invoke(null, null).ToString().Contains("Vervet"))
            Console.WriteLine(wrong);
    }
}
