// What reflection answers about base definitions, defaults, nullable constructors, arrays of generic parameters, keys without a company.
using System;
using System.Diagnostics;
using System.Reflection;

static class Bases
{
    class A { public virtual void F() { } public virtual void G() { } }
    class B : A { public override void F() { } }
    class C : B { public new virtual void F() { } }
    class D : C { }
    class E : D { public override void F() { } public override string ToString() { return "E"; } }
    class F1 : E { }
    enum Small : byte { One = 1, Two }
    interface I { }
    class G<T> { public T[] Items; }
    class H<T> where T : class, I { }
    class K<T> where T : class { }
    class L<T> where T : I { }
    class M<T> where T : A, I { }
    class N<T> where T : struct, I { }
    class O<T, U> where T : U where U : I { }
    class P<T, U> where T : U where U : class, I { }
    static void Defaults(Small? a = Small.Two, Small b = Small.Two, int? c = 4, Small? d = null, DateTime e = default(DateTime), decimal? f = 3m, long? g = 5, char? h = 'x') { }

    static void Main()
    {
        foreach (var t in new[] { typeof(A), typeof(B), typeof(C), typeof(D), typeof(E), typeof(F1) }) {
            foreach (var name in new[] { "F", "G", "ToString", "GetType" }) {
                var m = t.GetMethod(name);
                var b = m.GetBaseDefinition();
                Console.WriteLine("{0}.{1}: {2} of {3}, seen through {4}; same {5}", t.Name, name, b.Name, b.DeclaringType.Name, b.ReflectedType.Name, ReferenceEquals(m, b));
            }
        }
        foreach (var p in typeof(Bases).GetMethod("Defaults", BindingFlags.Static | BindingFlags.NonPublic).GetParameters()) {
            Console.WriteLine("{0}: {1} {2}; {3} {4}", p.Name, p.DefaultValue, p.DefaultValue == null ? "null" : p.DefaultValue.GetType().Name, p.RawDefaultValue, p.RawDefaultValue == null ? "null" : p.RawDefaultValue.GetType().Name);
        }
        Show(() => Activator.CreateInstance(typeof(int?), new object[] { null }));
        Show(() => Activator.CreateInstance(typeof(int?), new object[] { 5 }));
        Show(() => Activator.CreateInstance(typeof(int?)));
        Show(() => typeof(int?).GetConstructors()[0].Invoke(new object[] { null }));
        Show(() => typeof(Small?).GetConstructors()[0].Invoke(new object[] { Small.One }));
        var gt = typeof(G<>).GetGenericArguments()[0];
        var ht = typeof(H<>).GetGenericArguments()[0];
        var kt = typeof(K<>).GetGenericArguments()[0];
        Console.WriteLine("{0} {1}", typeof(I).IsAssignableFrom(gt), typeof(I[]).IsAssignableFrom(gt.MakeArrayType()));
        Console.WriteLine("{0} {1}", typeof(I).IsAssignableFrom(ht), typeof(I[]).IsAssignableFrom(ht.MakeArrayType()));
        Console.WriteLine("{0} {1}", typeof(I).IsAssignableFrom(kt), typeof(I[]).IsAssignableFrom(kt.MakeArrayType()));
        Console.WriteLine("{0} {1}", typeof(object).IsAssignableFrom(gt), typeof(object[]).IsAssignableFrom(gt.MakeArrayType()));
        Console.WriteLine("{0} {1}", typeof(object).IsAssignableFrom(kt), typeof(object[]).IsAssignableFrom(kt.MakeArrayType()));
        Console.WriteLine("{0} {1}", typeof(IComparable).IsAssignableFrom(gt), typeof(IComparable[,]).IsAssignableFrom(gt.MakeArrayType(2)));
        foreach (var open in new[] { typeof(L<>), typeof(M<>), typeof(N<>), typeof(O<,>), typeof(P<,>) }) {
            var t = open.GetGenericArguments()[0];
            Console.WriteLine("{0}: {1} {2} {3} {4} {5} {6}", open.Name, typeof(I).IsAssignableFrom(t), typeof(I[]).IsAssignableFrom(t.MakeArrayType()),
                typeof(I[,]).IsAssignableFrom(t.MakeArrayType(2)), typeof(I[][]).IsAssignableFrom(t.MakeArrayType().MakeArrayType()),
                typeof(object[]).IsAssignableFrom(t.MakeArrayType()), typeof(A[]).IsAssignableFrom(t.MakeArrayType()));
        }
        Show(() => typeof(TypedReference).MakeArrayType());
        Show(() => typeof(TypedReference).MakeByRefType());
        Show(() => typeof(TypedReference).MakePointerType());
        var date = new DateTime(2001, 2, 3);
        Show(() => typeof(DateTime?).GetConstructors()[0].Invoke(new object[] { date }).Equals(date));
        Show(() => Activator.CreateInstance(typeof(decimal?), 1.5m).Equals(1.5m));
        Show(() => Activator.CreateInstance(typeof(Guid?), Guid.Empty));
        var ecma = new AssemblyName("System, PublicKey=00000000000000000400000000000000");
        Console.WriteLine("{0} {1}", ecma.GetPublicKey() == null, BitConverter.ToString(ecma.GetPublicKeyToken()));
        Console.WriteLine(ecma.FullName);
        Console.WriteLine(ecma.Flags);
        foreach (var f in new[] { new StackFrame("dir/file", 13, 45), new StackFrame("other", 24), new StackFrame("x", 1, 2) })
            Console.WriteLine("{0} {1} {2} {3}", f.GetFileName(), f.GetFileLineNumber(), f.GetFileColumnNumber(), f.GetMethod().Name);
    }

    static void Show(Func<object> make)
    {
        try {
            var o = make();
            Console.WriteLine("{0} {1}", o ?? "null", o == null ? "" : o.GetType().Name);
        } catch (Exception e) {
            Console.WriteLine("{0}: {1}", e.GetType().Name, e.Message);
        }
    }
}
