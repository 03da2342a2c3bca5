// mcs: -unsafe -nowarn:0649
// Calls through reflection whose arguments fit as they are bypass the class library's checks; all others do not. Each call is made several
// times, because the way is open from the second call on.
using System;
using System.Collections.Generic;
using System.Reflection;

class Base
{
    public int Number = 1;
    public virtual string Who() { return "Base " + Number; }
    public static object Same(object o) { return o; }
    public int Add(int a, int b) { return a + b + Number; }
    public long Wide(long a) { return a * 2; }
    public string Text(string s) { return s ?? "null"; }
    public string Of(IComparable c) { return c == null ? "null" : c.ToString(); }
    public string Array(int[] a) { return a == null ? "null" : a.Length.ToString(); }
    public string Many(params object[] all) { return all == null ? "null" : all.Length.ToString(); }
    public string Optional(int a = 7, string s = "default") { return a + s; }
    public object Boxed(object o = null) { return o == null ? "null" : o.GetType().Name; }
    public DayOfWeek Day(DayOfWeek d) { return d; }
    public int? Maybe(int? n) { return n; }
    public void Change(ref int a, out string s) { a++; s = "out" + a; }
    public void Throw(string s) { throw new InvalidOperationException(s); }
    public T Generic<T>(T t) { return t; }
    public unsafe int Pointer(int* p) { return p == null ? 0 : 1; }
    public static int operator +(Base a, Base b) { return a.Number + b.Number; }
    public decimal Money(decimal d) { return d + 1; }
    public Pair Swap(Pair p) { return new Pair { A = p.B, B = p.A }; }
}
class Derived : Base { public override string Who() { return "Derived " + Number; } }
abstract class Abstract { protected Abstract() { } public abstract int M(); }
class Concrete : Abstract { public override int M() { return 5; } }
struct Pair { public long A, B; public long Sum() { return A + B; } public void Grow(long by) { A += by; } public override string ToString() { return A + "," + B; } }
class Made { public readonly string How; public Made() { How = "none"; } public Made(int n) { How = "int " + n; } public Made(string s) { How = "string " + s; } public Made(Base b) { How = b == null ? "null" : b.Who(); }
    static Made() { Console.WriteLine("Made is initialised"); } }
class Thrower { public Thrower() { throw new ArgumentException("from the constructor"); } }
class Remote : MarshalByRefObject { public int N = 4; public int Get(int a) { return N + a; } }
interface IGreet { string Hi(string s); }
class Greeter : IGreet { public string Hi(string s) { return "hi " + s; } }
class Widening : Binder
{
    public override object ChangeType(object value, Type type, System.Globalization.CultureInfo culture) { Console.Write("[change] "); return Convert.ChangeType(value, type); }
    public override FieldInfo BindToField(BindingFlags a, FieldInfo[] m, object v, System.Globalization.CultureInfo c) { return null; }
    public override MethodBase BindToMethod(BindingFlags a, MethodBase[] m, ref object[] args, ParameterModifier[] mod, System.Globalization.CultureInfo c, string[] n, out object s) { s = null; return null; }
    public override void ReorderArgumentArray(ref object[] args, object state) { }
    public override MethodBase SelectMethod(BindingFlags a, MethodBase[] m, Type[] t, ParameterModifier[] mod) { return null; }
    public override PropertyInfo SelectProperty(BindingFlags a, PropertyInfo[] m, Type r, Type[] i, ParameterModifier[] mod) { return null; }
}

static class PlainCalls
{
    delegate object Open(MethodInfo m, object target, BindingFlags flags, Binder binder, object[] args, System.Globalization.CultureInfo culture);
    delegate object Closed(object target, BindingFlags flags, Binder binder, object[] args, System.Globalization.CultureInfo culture);
    static string Show(object o) { return o == null ? "null" : o + ":" + o.GetType().Name; }
    static void Try(string what, Func<object> call)
    {
        string last = null;
        for (int i = 0; i < 4; i++) {
            string now;
            try { now = Show(call()); }
            catch (TargetInvocationException e) { now = "wrapped " + e.InnerException.GetType().Name + " " + e.InnerException.Message; }
            catch (Exception e) { now = e.GetType().Name; }
            if (last != null && now != last) Console.WriteLine(what + " changes: " + last + " -> " + now);
            last = now;
        }
        Console.WriteLine(what + ": " + last);
    }
    static MethodInfo M(string name) { return typeof(Base).GetMethod(name); }
    static object[] A(params object[] a) { return a; }

    static void Main()
    {
        var b = new Base(); var d = new Derived { Number = 2 };
        Try("add", () => M("Add").Invoke(b, A(1, 2)));
        Try("add derived", () => M("Add").Invoke(d, A(1, 2)));
        Try("add null target", () => M("Add").Invoke(null, A(1, 2)));
        Try("add wrong target", () => M("Add").Invoke("text", A(1, 2)));
        Try("add too few", () => M("Add").Invoke(b, A(1)));
        Try("add none", () => M("Add").Invoke(b, null));
        Try("add bytes", () => M("Add").Invoke(b, A((byte)1, (short)2)));
        Try("add long", () => M("Add").Invoke(b, A(1L, 2)));
        Try("add null", () => M("Add").Invoke(b, A(1, null)));
        Try("add enum", () => M("Add").Invoke(b, A(DayOfWeek.Friday, 2)));
        Try("add missing", () => M("Add").Invoke(b, A(Type.Missing, 2)));
        Try("add binder", () => M("Add").Invoke(b, BindingFlags.Default, new Widening(), A("1", 2), null));
        Try("add binder plain", () => M("Add").Invoke(b, BindingFlags.Default, new Widening(), A(1, 2), null));
        Try("wide", () => M("Wide").Invoke(b, A(5)));
        Try("who", () => M("Who").Invoke(d, null));
        Try("who empty", () => M("Who").Invoke(d, new object[0]));
        Try("who one too many", () => M("Who").Invoke(d, A(1)));
        Try("same static", () => M("Same").Invoke(null, A("x")));
        Try("same static with target", () => M("Same").Invoke("any", A(3)));
        Try("same missing", () => M("Same").Invoke(null, A(Missing.Value)));
        Try("text", () => M("Text").Invoke(b, A("s")));
        Try("text null", () => M("Text").Invoke(b, new object[] { null }));
        Try("text object", () => M("Text").Invoke(b, A(new object())));
        Try("text string[]", () => M("Text").Invoke(b, new string[] { "of strings" }));
        Try("interface", () => M("Of").Invoke(b, A(5)));
        Try("interface wrong", () => M("Of").Invoke(b, A(new object())));
        Try("array", () => M("Array").Invoke(b, new object[] { new int[3] }));
        Try("array uint", () => M("Array").Invoke(b, new object[] { new uint[3] }));
        Try("many", () => M("Many").Invoke(b, new object[] { new object[2] }));
        Try("many strings", () => M("Many").Invoke(b, new object[] { new string[4] }));
        Try("optional", () => M("Optional").Invoke(b, A(1, "s")));
        Try("optional missing", () => M("Optional").Invoke(b, A(Type.Missing, Type.Missing)));
        Try("boxed", () => M("Boxed").Invoke(b, A(1)));
        Try("boxed missing", () => M("Boxed").Invoke(b, A(Type.Missing)));
        Try("day", () => M("Day").Invoke(b, A(DayOfWeek.Monday)));
        Try("day int", () => M("Day").Invoke(b, A(3)));
        Try("maybe", () => M("Maybe").Invoke(b, A(3)));
        Try("maybe null", () => M("Maybe").Invoke(b, new object[] { null }));
        Try("change", () => { var a = A(1, null); M("Change").Invoke(b, a); return a[0] + "" + a[1]; });
        Try("throw", () => M("Throw").Invoke(b, A("thrown")));
        Try("generic", () => M("Generic").Invoke(b, A(1)));
        Try("generic made", () => M("Generic").MakeGenericMethod(typeof(int)).Invoke(b, A(1)));
        Try("pointer", () => M("Pointer").Invoke(b, new object[] { IntPtr.Zero }));
        Try("operator", () => M("op_Addition").Invoke(null, A(b, d)));
        Try("money", () => M("Money").Invoke(b, A(1.5m)));
        Try("money int", () => M("Money").Invoke(b, A(1)));
        Try("swap", () => M("Swap").Invoke(b, A(new Pair { A = 1, B = 2 })));
        Try("struct this", () => typeof(Pair).GetMethod("Sum").Invoke(new Pair { A = 3, B = 4 }, null));
        Try("struct grows", () => { object p = new Pair { A = 3 }; typeof(Pair).GetMethod("Grow").Invoke(p, A(5L)); return p; });
        Try("struct wrong", () => typeof(Pair).GetMethod("Sum").Invoke(5, null));
        Try("abstract", () => typeof(Abstract).GetMethod("M").Invoke(new Concrete(), null));
        Try("interface method", () => typeof(IGreet).GetMethod("Hi").Invoke(new Greeter(), A("you")));
        Try("of object", () => typeof(object).GetMethod("ToString").Invoke(5, null));
        Try("of object on struct", () => typeof(object).GetMethod("GetType").Invoke(new Pair(), null));
        Try("open class", () => typeof(List<>).GetMethod("Clear").Invoke(new List<int>(), null));
        Try("list", () => { var l = new List<int>(); typeof(List<int>).GetMethod("Add").Invoke(l, A(4)); return l.Count; });
        Try("list wrong", () => typeof(List<int>).GetMethod("Clear").Invoke(new List<string>(), null));
        Try("property", () => { typeof(Exception).GetProperty("Source").SetValue(new Exception(), "s", null); return 1; });
        Try("ctor", () => ((Made)typeof(Made).GetConstructor(Type.EmptyTypes).Invoke(null)).How);
        Try("ctor int", () => ((Made)typeof(Made).GetConstructor(new[] { typeof(int) }).Invoke(A(3))).How);
        Try("ctor int byte", () => ((Made)typeof(Made).GetConstructor(new[] { typeof(int) }).Invoke(A((byte)3))).How);
        Try("ctor base", () => ((Made)typeof(Made).GetConstructor(new[] { typeof(Base) }).Invoke(A(d))).How);
        Try("ctor base null", () => ((Made)typeof(Made).GetConstructor(new[] { typeof(Base) }).Invoke(new object[] { null })).How);
        Try("ctor base wrong", () => typeof(Made).GetConstructor(new[] { typeof(Base) }).Invoke(A("s")));
        Try("ctor throws", () => typeof(Thrower).GetConstructor(Type.EmptyTypes).Invoke(null));
        Try("ctor abstract", () => typeof(Abstract).GetConstructors(BindingFlags.NonPublic | BindingFlags.Instance)[0].Invoke(null));
        Try("ctor abstract create", () => typeof(Abstract).GetConstructors(BindingFlags.NonPublic | BindingFlags.Instance)[0].Invoke(BindingFlags.CreateInstance, null, null, null));
        Try("ctor string", () => typeof(string).GetConstructor(new[] { typeof(char), typeof(int) }).Invoke(A('x', 3)));
        Try("ctor array", () => ((int[,])typeof(int[,]).GetConstructor(new[] { typeof(int), typeof(int) }).Invoke(A(2, 3))).Length);
        Try("ctor on object", () => { var m = new Made(1); typeof(Made).GetConstructor(new[] { typeof(string) }).Invoke(m, A("again")); return m.How; });
        Try("ctor struct", () => typeof(decimal).GetConstructor(new[] { typeof(int) }).Invoke(A(9)));
        Try("cctor", () => typeof(Made).TypeInitializer.Invoke(null, null));
        Try("remote", () => typeof(Remote).GetMethod("Get").Invoke(new Remote(), A(1)));
        var domain = AppDomain.CreateDomain("other");
        var proxy = domain.CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, "Remote");
        Try("proxy", () => typeof(Remote).GetMethod("Get").Invoke(proxy, A(1)));
        Try("proxy as argument", () => M("Same").Invoke(null, A(proxy)) == proxy);
        // Invoke itself is called without an object.
        var invoke = M("Add").GetType().GetMethod("Invoke", new[] { typeof(object), typeof(BindingFlags), typeof(Binder), typeof(object[]), typeof(System.Globalization.CultureInfo) });
        Try("closed over null", () => ((Closed)Delegate.CreateDelegate(typeof(Closed), null, invoke))(b, 0, null, A(1, 2), null));
        Try("open", () => ((Open)Delegate.CreateDelegate(typeof(Open), typeof(MethodInfo).GetMethod("Invoke", new[] { typeof(object), typeof(BindingFlags), typeof(Binder), typeof(object[]), typeof(System.Globalization.CultureInfo) })))(M("Add"), b, 0, null, A(1, 2), null));
        Try("delegate", () => new Func<int, int>(x => x + 1).DynamicInvoke(4));
        Try("delegate wrong", () => new Func<int, int>(x => x + 1).DynamicInvoke("s"));
        try { M("Throw").Invoke(b, A("traced")); }
        catch (TargetInvocationException e) {
            foreach (var line in e.InnerException.StackTrace.Split('\n')) Console.WriteLine(line.Substring(0, line.IndexOf('(', 12)).Trim());
            Console.WriteLine(e.StackTrace.Contains("RuntimeMethodInfo.Invoke"));
        }
    }
}
