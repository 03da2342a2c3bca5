// Calls of methods of generic classes, and of generic methods, into another domain: they take the short way, and traces name the type arguments.
using System;
using System.Text.RegularExpressions;

class Generic<T> : MarshalByRefObject
{
    T last;

    public T Swap(T value) { T old = last; last = value; return old; }
    public void Plain(T value) { throw new Exception("plain"); }
    public U Method<U>(T value, U other) { throw new Exception("method"); }
    public U Back<U>(U value) { return value; }
    public virtual void Virtual(T value) { throw new Exception("virtual"); }
}

class Derived<T> : Generic<T[]>
{
    public override void Virtual(T[] value) { throw new Exception("derived"); }
}

class Remote : MarshalByRefObject
{
    public void Method<T>(T value) { throw new Exception("generic"); }
}

[Serializable]
class Value { public int Number; }

static class GenericCrossings
{
    static void Try(string what, Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine(what);
            Console.WriteLine(Regex.Replace(e.ToString(), @" \[0x[0-9a-f]+\] in .*", ""));
        }
    }

    static void Main()
    {
        var domain = AppDomain.CreateDomain("other");
        Func<Type, object> make = type => domain.CreateInstanceAndUnwrap(type.Assembly.FullName, type.FullName);
        var numbers = (Generic<int>) make(typeof(Generic<int>));
        var texts = (Generic<string>) make(typeof(Generic<string>));
        var values = (Generic<Value>) make(typeof(Generic<Value>));
        var derived = (Derived<byte>) make(typeof(Derived<byte>));
        var remote = (Remote) make(typeof(Remote));
        Console.WriteLine("{0} {1}", numbers.Swap(5), numbers.Swap(6));
        Console.WriteLine("{0} {1}", texts.Swap("a") == null, texts.Swap("b"));
        Console.WriteLine("{0} {1}", values.Swap(new Value { Number = 7 }) == null, values.Swap(null).Number);
        Console.WriteLine("{0} {1}", derived.Swap(new byte[] { 8 }) == null, derived.Swap(null)[0]);
        Console.WriteLine("{0} {1} {2}", numbers.Back("text"), texts.Back(9), values.Back(new Value { Number = 10 }).Number);
        Try("a number", () => numbers.Plain(1));
        Try("a text", () => texts.Plain(""));
        Try("a value", () => values.Plain(null));
        Try("a method", () => numbers.Method(1, ""));
        Try("a method of texts", () => texts.Method("", 2));
        Try("a virtual method", () => numbers.Virtual(1));
        Try("an overridden one", () => derived.Virtual(null));
        Try("a generic method", () => remote.Method(3));
        Try("one of texts", () => remote.Method(""));
        Try("the same here", () => new Generic<int>().Plain(1));
    }
}
