// Mono shares the code of generic methods between instantiations over references. Where such code casts by a type parameter, traces begin in the function that does it,
// unless the type is one that an object has as an ancestor.
// tiers: all
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;

sealed class Sealed<T> { }
class Open<T> { }
class Remote<T> : MarshalByRefObject { }
interface IFace<T> { }
class Casts<T, U>
{
    const MethodImplOptions Called = MethodImplOptions.NoInlining;
    [MethodImpl(Called)] public static object Parameter(object o) { return (T)o; }
    [MethodImpl(Called)] public static object OfArray(object o) { return (T[])o; }
    [MethodImpl(Called)] public static object OfMatrix(object o) { return (T[,])o; }
    [MethodImpl(Called)] public static object OfLists(object o) { return (List<T>[])o; }
    [MethodImpl(Called)] public static object OfOpen(object o) { return (Open<T>)o; }
    [MethodImpl(Called)] public static object OfSealed(object o) { return (Sealed<T>)o; }
    [MethodImpl(Called)] public static object OfRemote(object o) { return (Remote<T>)o; }
    [MethodImpl(Called)] public static object OfInterface(object o) { return (IFace<U>)o; }
    [MethodImpl(Called)] public static object OfVariant(object o) { return (Func<T>)o; }
    [MethodImpl(Called)] public static object OfItself(object o) { return (Casts<T, U>)o; }
    [MethodImpl(Called)] public static object OfString(object o) { return (string)o; }
    [MethodImpl(Called)] public static object OfStrings(object o) { return (string[])o; }
    [MethodImpl(Called)] public static object OfMethod<V>(object o) { return (V)o; }
    [MethodImpl(Called)] public static object InMethod<V>(object o) { return (T)o; }
    [MethodImpl(Called)] public object OfInstance(object o) { return (T)o; }
}

static class SharedCasts
{
    static void Show(string name, Func<object, object> cast)
    {
        try { Console.WriteLine(name + ": " + cast(new object())); }
        catch (InvalidCastException e) { Console.WriteLine(name + ": " + (e.StackTrace.Split('\n')[0].Contains("__castclass_with_cache") ? "looked up" : "in place")); }
    }

    static void All<T, U>()
    {
        Console.WriteLine(typeof(T) + ", " + typeof(U));
        Show("parameter", Casts<T, U>.Parameter);
        Show("array", Casts<T, U>.OfArray);
        Show("matrix", Casts<T, U>.OfMatrix);
        Show("array of lists", Casts<T, U>.OfLists);
        Show("open class", Casts<T, U>.OfOpen);
        Show("sealed class", Casts<T, U>.OfSealed);
        Show("remote class", Casts<T, U>.OfRemote);
        Show("interface", Casts<T, U>.OfInterface);
        Show("variant", Casts<T, U>.OfVariant);
        Show("itself", Casts<T, U>.OfItself);
        Show("string", Casts<T, U>.OfString);
        Show("strings", Casts<T, U>.OfStrings);
        Show("method's, string", Casts<T, U>.OfMethod<string>);
        Show("method's, int", Casts<T, U>.OfMethod<int>);
        Show("in a method of string", Casts<T, U>.InMethod<string>);
        Show("in a method of int", Casts<T, U>.InMethod<int>);
        Show("instance", new Casts<T, U>().OfInstance);
    }

    static void Main()
    {
        All<string, Version>();
        All<int, string>();
        All<string, int>();
        All<KeyValuePair<string, string>, string>();
        All<object[], IDisposable>();
        Show("library", o => new[] { o }.Cast<string>().First());
    }
}
