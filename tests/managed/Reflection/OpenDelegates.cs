// Delegates that cannot be called or made, and type names whose arguments break a constraint.
using System;
using System.Reflection;

static class Program
{
    class Open<T1, T2> { public static void Method() { } }

    static void Main()
    {
        var made = (Action)Delegate.CreateDelegate(typeof(Action), null, typeof(Open<,>).GetMethod("Method"), true);
        try { made(); }
        catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        // expect: Could not execute the method because the containing type 'Program+Open`2[T1,T2]', is not fully instantiated.
        var constructor = typeof(Action).GetConstructor(new[] { typeof(object), typeof(IntPtr) });
        try { constructor.Invoke(new object[] { "target", IntPtr.Zero }); }
        catch (TargetInvocationException e) { Console.WriteLine(e.InnerException.GetType().Name); }
        // expect: ArgumentNullException
        Console.WriteLine(Type.GetType("System.Nullable`1[System.String]") != null);  // expect: True
    }
}
