// Reflection does not box what may live on a stack only.
// expect: implicit Cannot invoke method with stack pointers via reflection
// expect: own Cannot invoke method with stack pointers via reflection
// expect: constructor Cannot invoke method with stack pointers via reflection
// expect: plain 5
using System;
using System.Reflection;

ref struct OnStack { public int X; }

static class StackOnlyResults
{
    static OnStack Own() { return new OnStack { X = 4 }; }
    static int Plain() { return 5; }

    static void Try(string name, Func<object> call)
    {
        for (int i = 0; i < 3; i++)
            try {
                object got = call();
                if (i == 2) Console.WriteLine(name + " " + got);
            } catch (NotSupportedException e) {
                if (i == 2) Console.WriteLine(name + " " + e.Message);
            }
    }
    static MethodInfo Method(string name) { return typeof(StackOnlyResults).GetMethod(name, BindingFlags.Static | BindingFlags.NonPublic); }

    static void Main()
    {
        Try("implicit", () => typeof(string).GetMethod("op_Implicit").Invoke(null, new object[] { "abc" }));
        Try("own", () => Method("Own").Invoke(null, null));
        Try("constructor", () => typeof(Span<int>).GetConstructor(new[] { typeof(int[]) }).Invoke(new object[] { new int[2] }));
        Try("plain", () => Method("Plain").Invoke(null, null));
    }
}
