// Types nested deeper than any program does: a limit answers with an exception, on the smallest of stacks.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;

class Box<T> { public T[] Items; public int One() { return 1; } }

static class Program
{
    static int Deep<T>(int n) { return n == 0 ? typeof(T).ToString().Length : Deep<Box<T>>(n - 1); }

    static Type Nest(Func<Type, Type> wrap, int levels)
    {
        var type = typeof(int);
        for (int i = 0; i < levels; i++) type = wrap(type);
        return type;
    }
    static void Try(string what, Func<object> work)
    {
        // The least stack that a thread gets.
        var thread = new Thread(() => {
            try { Console.WriteLine(what + ": " + work()); }
            catch (TypeLoadException) { Console.WriteLine(what + ": too deep"); }
        }, 1 << 17);
        thread.Start();
        thread.Join();
    }
    static void Main()
    {
        Func<Type, Type> vector = t => t.MakeArrayType(), matrix = t => t.MakeArrayType(2), pointer = t => t.MakePointerType(),
            box = t => typeof(Box<>).MakeGenericType(t);
        Try("vectors", () => Nest(vector, 240).FullName.Length);        // expect: vectors: 492
        Try("vectors", () => Nest(vector, 10000).FullName.Length);      // expect: vectors: too deep
        Try("matrices", () => Nest(matrix, 10000).FullName.Length);     // expect: matrices: too deep
        Try("pointers", () => Nest(pointer, 10000).FullName.Length);    // expect: pointers: too deep
        Try("assignable", () => Nest(vector, 240).IsAssignableFrom(Nest(t => t.MakeArrayType(), 240)));  // expect: assignable: True
        Try("instances", () => Array.CreateInstance(Nest(vector, 200), 1) is object[]);  // expect: instances: True
        Try("arguments", () => Nest(box, 200).ToString().Length);       // expect: arguments: 1412
        Try("arguments", () => Nest(box, 10000).ToString().Length);     // expect: arguments: too deep
        Try("called", () => { var t = Nest(box, 200); return t.GetMethod("One").Invoke(Activator.CreateInstance(t), null); });  // expect: called: 1
        Try("instantiated", () => Deep<int>(150));                      // expect: instantiated: 1062
        Try("instantiated", () => Deep<int>(100000));                   // expect: instantiated: too deep
        Try("named", () => Type.GetType("System.Int32" + new string('*', 200)).FullName.Length);   // expect: named: 212
        Try("named", () => Type.GetType("System.Int32" + new string('*', 10000)) == null);         // expect: named: True
        Try("brackets", () => Type.GetType("A" + new string('[', 100000)) == null);                // expect: brackets: True
        Try("nested", () => Type.GetType("A" + string.Join("", new string('+', 100000)).Replace("+", "+A")) == null);  // expect: nested: True
        var argument = "System.Int32";
        for (int i = 0; i < 1000; i++) argument = "System.Collections.Generic.List`1[[" + argument + "]]";
        Try("arguments named", () => Type.GetType(argument) == null);   // expect: arguments named: True
    }
}
