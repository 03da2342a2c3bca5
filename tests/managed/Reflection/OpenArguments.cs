// Open types as arguments: constraints judge every type but the parameters themselves, and parameters vary as references do.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

class OfClass<T> where T : class { }
class OfStruct<T> where T : struct { }
class OfNew<T> where T : new() { }
class OfComparable<T> where T : IComparable { }
class OfException<T> where T : Exception { }
class OfArgument<T> where T : ArgumentException { }
class OfItself<T> where T : IComparable<T> { }
class OfBoth<T> where T : class, IComparable, new() { }
class OfSequence<T> where T : IEnumerable<object> { }
class OfOther<T, U> where T : U { }
class OfAny<T> { }

class Hidden<T> { Hidden() { } }
abstract class Abstract<T> { }
class Comparable<T> : IComparable<Comparable<T>> { public int CompareTo(Comparable<T> other) { return 0; } }
class Failure<T> : ArgumentException { }

static class Methods
{
    public static void OfClass<T>() where T : class { }
    public static void OfStruct<T>() where T : struct { }
    public static void OfNew<T>() where T : new() { }
    public static void OfException<T>() where T : Exception { }
    public static void OfItself<T>() where T : IComparable<T> { }
    public static void OfOther<T, U>() where T : U { }
}

static class OpenArguments
{
    static Type Parameter(Type definition) { return definition.GetGenericArguments()[0]; }

    static string Try(Func<object> make)
    {
        try { return make().ToString(); }
        catch (ArgumentException e) { return e.ParamName ?? "none"; }
    }

    static void Main()
    {
        Type t = Parameter(typeof(List<>));
        Type[] definitions =
        {
            typeof(OfClass<>), typeof(OfStruct<>), typeof(OfNew<>), typeof(OfComparable<>), typeof(OfException<>), typeof(OfArgument<>),
            typeof(OfItself<>), typeof(OfBoth<>), typeof(OfSequence<>), typeof(Nullable<>), typeof(OfAny<>),
        };
        Type[] open =
        {
            t, t.MakeArrayType(), t.MakeArrayType(2), typeof(List<>), typeof(List<>).MakeGenericType(Parameter(typeof(OfClass<>))), typeof(Hidden<>),
            typeof(Abstract<>), typeof(Comparable<>), typeof(Comparable<>).MakeGenericType(t), typeof(Failure<>), typeof(Nullable<>),
            typeof(Nullable<>).MakeGenericType(t), typeof(KeyValuePair<,>), typeof(List<>).MakeGenericType(typeof(Nullable<>)), typeof(IEnumerable<>),
            typeof(IEnumerable<>).MakeGenericType(Parameter(typeof(OfStruct<>))), typeof(Func<>), typeof(Dictionary<,>).GetNestedType("Enumerator"),
        };
        foreach (Type definition in definitions)
            foreach (Type argument in open.Concat(definitions.Select(Parameter)))
                Console.WriteLine(definition.Name + " of " + argument + ": " + Try(() => definition.MakeGenericType(argument)));
        foreach (string name in new[] { "OfClass", "OfStruct", "OfNew", "OfException", "OfItself" })
            foreach (Type argument in open)
                Console.WriteLine(name + " of " + argument + ": " + Try(() => typeof(Methods).GetMethod(name).MakeGenericMethod(argument)));
        foreach (Type a in open.Concat(new[] { typeof(object), typeof(string) }))
            foreach (Type b in new[] { t, typeof(object), typeof(IComparable), typeof(Exception), typeof(IEnumerable<>).MakeGenericType(t) })
                Console.WriteLine(a + " where " + b + ": " + Try(() => typeof(OfOther<,>).MakeGenericType(a, b)) + " "
                    + Try(() => typeof(Methods).GetMethod("OfOther").MakeGenericMethod(a, b)));

        Type[] parameters = definitions.Select(Parameter).Concat(new[] { typeof(int), typeof(string), typeof(Exception) }).ToArray();
        Type[] targets = { typeof(object), typeof(Exception), typeof(IComparable), typeof(ValueType), typeof(int), typeof(string), typeof(ArgumentException) };
        Type[] variant = { typeof(IEnumerable<>), typeof(Func<>), typeof(Action<>), typeof(IComparer<>), typeof(List<>) };
        foreach (Type to in targets.Concat(parameters))
        {
            Console.Write(to.Name + " " + to.DeclaringType + ":");
            foreach (Type from in parameters)
                Console.Write(" " + string.Concat(variant.Select(v => v.MakeGenericType(to).IsAssignableFrom(v.MakeGenericType(from)) ? "1" : "0"))
                    + (typeof(IEnumerable<>).MakeGenericType(to).IsAssignableFrom(typeof(List<>).MakeGenericType(from)) ? "1" : "0"));
            Console.WriteLine();
        }
        Console.WriteLine(typeof(IEnumerable<object>).IsAssignableFrom(typeof(IEnumerable<>)));
    }
}
