// Object.GetType on every kind of object, before and after its Type object is made, through proxies and in domains that end and come again.
using System;
using System.Collections.Generic;
using System.Reflection;

enum Small : byte { A, B }
struct Pair { public int X; }
class Plain { }
class Derived : Plain { }
class Holder<T> { public T Value; }
interface IFar { string Own(); }
class Far : MarshalByRefObject, IFar {
    public string Own() { return GetType().Name + (GetType() == typeof(Far)); }
    public string Of(object o) { return o.GetType().Name + (o.GetType() == typeof(Derived)) + AppDomain.CurrentDomain.FriendlyName; }
    public string Made() { object o = new Derived(); return Program.Name(o) + (o.GetType() == typeof(Derived)) + ReferenceEquals(o.GetType(), new Derived().GetType()); }
}
[Serializable] class Carried { }

static class Program
{
    public static string Name(object o) { return o.GetType().Name; }
    static int Equal(object[] all, int n) { int s = 0; for (int i = 0; i < n; i++) if (all[i % all.Length].GetType() == typeof(Derived)) s++; return s; }
    static string Null(object o) { try { return o.GetType().Name; } catch (NullReferenceException) { return "null"; } }
    static string Of<T>(T x) { return x.GetType().Name; }
    static bool Same<T>(object o) { return o.GetType() == typeof(T); }
    static string Virtual(object o) { var t = o.GetType(); return t.IsValueType + " " + t.BaseType + " " + t.IsArray + " " + t.GetHashCode().Equals(o.GetType().GetHashCode()); }

    static void Main()
    {
        var all = new object[] { "s", 1, 2.5, 'c', true, Small.B, new Pair(), new Plain(), new Derived(), new int[1], new string[1, 2], new int[1][], new Holder<int>(), new Holder<string>(), new List<Pair>(), (Action)Main, typeof(int), typeof(Program).GetMethod("Name"), new Exception(), 1m, DateTime.MinValue, new int?(3), AppDomain.CurrentDomain, new object() };
        for (int round = 0; round < 2; round++)
            foreach (var o in all) Console.WriteLine(Name(o) + " " + Virtual(o));
        Console.WriteLine(Equal(new object[] { new Derived(), new Plain(), "x" }, 30000));
        for (int i = 0; i < 3; i++) Console.WriteLine(Null(null) + Null("x") + Null(null));
        Console.WriteLine(Of(1) + Of("s") + Of(Small.A) + Of<object>(2) + Of<int?>(5) + Of(new Pair()));
        Console.WriteLine(Same<int>(1) + " " + Same<Plain>(new Derived()) + " " + Same<Derived>(new Derived()) + " " + Same<Holder<int>>(new Holder<string>()));
        Console.WriteLine(ReferenceEquals(new Derived().GetType(), typeof(Derived)) + " " + (new Derived().GetType() == Type.GetType("Derived")));
        for (int i = 0; i < 4; i++) {
            GC.Collect(); Console.Write(Name(new Derived()) + (new Derived().GetType() == typeof(Derived)) + " ");
            var domain = AppDomain.CreateDomain("d" + i);
            var far = (Far)domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Far");
            Console.Write(far.GetType().Name + (far.GetType() == typeof(Far)) + " " + Name(far) + " " + far.Own() + " " + far.Made() + " ");
            IFar seen = far; Console.Write(seen.GetType().Name + " ");
            try { far.Of(new Carried()); } catch (Exception e) { Console.Write(e.GetType().Name); }
            Console.WriteLine(far.Of("text") + far.Of(i) + far.Of(new int[2]));
            AppDomain.Unload(domain);
        }
    }
}
