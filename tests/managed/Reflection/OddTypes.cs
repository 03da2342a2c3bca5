// Types of which nothing can be made: what is asked for them gets an exception, never a runtime that stops.
using System;
using System.Reflection;
using System.Runtime.Serialization;

class Box<T> { }

static class Program
{
    static void Generic<T>() { }
    static void Try(string what, Func<object> work)
    {
        try { Console.WriteLine(what + ": " + work()); }
        catch (TargetInvocationException e) { Console.WriteLine(what + ": " + e.InnerException.GetType().Name); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
    static void Main()
    {
        Try("rank 0", () => Array.CreateInstance(typeof(int), new int[0]));                  // expect: rank 0: ArgumentException
        Try("rank 32", () => Array.CreateInstance(typeof(int), new int[32]).Rank);           // expect: rank 32: 32
        Try("rank 33", () => Array.CreateInstance(typeof(int), new int[33]));                // expect: rank 33: TypeLoadException
        Try("rank 300", () => Array.CreateInstance(typeof(int), new int[300]));              // expect: rank 300: TypeLoadException
        Try("rank 33 made", () => typeof(int).MakeArrayType(33));                            // expect: rank 33 made: TypeLoadException
        Try("length -1", () => Array.CreateInstance(typeof(int), -1));                       // expect: length -1: ArgumentOutOfRangeException
        Try("lengths -1", () => Array.CreateInstance(typeof(int), 2, -1));                   // expect: lengths -1: ArgumentOutOfRangeException
        Try("typed references", () => Array.CreateInstance(typeof(TypedReference), 1));      // expect: typed references: InvalidProgramException
        Try("typed references 2", () => Array.CreateInstance(typeof(TypedReference), 1, 1)); // expect: typed references 2: InvalidProgramException
        Try("argument handles", () => Array.CreateInstance(typeof(RuntimeArgumentHandle), 1)); // expect: argument handles: TypeLoadException
        Try("byref", () => FormatterServices.GetUninitializedObject(typeof(int).MakeByRefType()));    // expect: byref: ArgumentException
        Try("pointer", () => FormatterServices.GetUninitializedObject(typeof(int).MakePointerType())); // expect: pointer: ArgumentException
        Try("parameter", () => FormatterServices.GetUninitializedObject(typeof(Box<>).GetGenericArguments()[0])); // expect: parameter: ArgumentException
        var generic = typeof(Program).GetMethod("Generic", BindingFlags.NonPublic | BindingFlags.Static);
        Try("void method", () => generic.MakeGenericMethod(typeof(void)));                   // expect: void method: ArgumentException
        Try("byref method", () => generic.MakeGenericMethod(typeof(int).MakeByRefType()));   // expect: byref method: ArgumentException
        var internals = typeof(Delegate).GetMethod("CreateDelegate_internal", BindingFlags.NonPublic | BindingFlags.Static);
        Try("no delegate", () => internals.Invoke(null, new object[] { typeof(int[]), null, typeof(Array).GetProperty("Rank").GetGetMethod(), false }));  // expect: no delegate: ArgumentException
        Try("end of arguments", () => default(ArgIterator).GetNextArgType());                // expect: end of arguments: InvalidOperationException
        Try("references as bytes", () => { Buffer.BlockCopy(new object[1], 0, new byte[8], 0, 8); return "copied"; });  // expect: references as bytes: ArgumentException
    }
}
