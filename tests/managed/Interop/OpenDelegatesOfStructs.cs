// Open delegates over virtual methods of structs: the first argument is the address of a value, and nothing overrides the method.
using System;
using System.Reflection;

struct Named { public int A; public override string ToString() { return "St" + A; } public override int GetHashCode() { return A; } }
struct Compared : IComparable<Compared> { public int A; public int CompareTo(Compared o) { return A - o.A; } }
struct Generic<T> { public T V; public override string ToString() { return "G" + V; } }
interface IHasP { int P { get; set; } }
struct WithP : IHasP { int p; public int P { get { return p; } set { p = value; } } }
delegate string Text<T>(ref T s);
delegate int Compare(ref Compared a, Compared b);
delegate int Getter(ref WithP s);
delegate void Setter(ref WithP s, int v);
delegate bool Equal(ref Guid a, Guid b);

static class OpenDelegatesOfStructs
{
    static T Open<T>(Type type, string name, params Type[] args) { return (T)(object)Delegate.CreateDelegate(typeof(T), type.GetMethod(name, args)); }
    static string Caught(Func<object> f)
    {
        try { return f().ToString(); }
        catch (InvalidProgramException) { return "invalid program"; }
    }
    static void Main()
    {
        var named = new Named { A = 3 };
        Console.WriteLine(Open<Text<Named>>(typeof(Named), "ToString")(ref named)); // expect: St3
        var compared = new Compared { A = 5 };
        Console.WriteLine(Open<Compare>(typeof(Compared), "CompareTo", typeof(Compared))(ref compared, new Compared { A = 2 })); // expect: 3
        var generic = new Generic<int> { V = 5 };
        Console.WriteLine(Open<Text<Generic<int>>>(typeof(Generic<int>), "ToString")(ref generic)); // expect: G5
        int? nullable = 7;
        Console.WriteLine(Open<Text<int?>>(typeof(int?), "ToString")(ref nullable)); // expect: 7
        var withP = new WithP();
        ((Setter)Delegate.CreateDelegate(typeof(Setter), typeof(WithP).GetProperty("P").GetSetMethod()))(ref withP, 4);
        Console.WriteLine(((Getter)Delegate.CreateDelegate(typeof(Getter), typeof(WithP).GetProperty("P").GetGetMethod()))(ref withP)); // expect: 4
        int number = 9;
        Console.WriteLine(((Text<int>)typeof(int).GetMethod("ToString", Type.EmptyTypes).CreateDelegate(typeof(Text<int>)))(ref number)); // expect: 9
        var guid = Guid.Empty;
        Console.WriteLine(Open<Equal>(typeof(Guid), "Equals", typeof(Guid))(ref guid, Guid.Empty)); // expect: True
        // A value is no object whose class could decide.
        Console.WriteLine(Caught(() => ((Func<Named, int>)Delegate.CreateDelegate(typeof(Func<Named, int>), typeof(object).GetMethod("GetHashCode")))(named))); // expect: invalid program
    }
}
