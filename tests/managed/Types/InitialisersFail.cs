// An initialiser that throws makes each call of a method fail whose IL names a static field of the class, before the body; threads wait for one that is
// running; each application domain initialises for itself.
// mcs: -nowarn:169,219,414,649
using System;
using System.Reflection.Emit;
using System.Threading;

static class Log
{
    public static int Init(string name) { Console.WriteLine("    " + (AppDomain.CurrentDomain.IsDefaultAppDomain() ? "here" : "there") + " init " + name); return 1; }
}
class Bad { public static int X = Log.Init("Bad"), Y = int.Parse("x"); public int M() { return 3; } }
class UsesBad { public static int X = Log.Init("UsesBad") + Bad.X; public static void M() { Console.WriteLine("UsesBad.M"); } }
class Slow
{
    public static int X = Run();
    static int Run() { Console.WriteLine("Slow begins"); Thread.Sleep(100); Console.WriteLine("Slow ends"); return 5; }
    public static int Get() { return X; }
}
class Left { public static int X = Run(); static int Run() { Thread.Sleep(50); return Right.Get() + 1; } public static int Get() { return X; } }
class Right { public static int X = Run(); static int Run() { Thread.Sleep(50); return Left.Get() + 1; } public static int Get() { return X; } }
class Elsewhere { public static int X = Log.Init("Elsewhere"); }
class InDynamic { public static int X = Log.Init("InDynamic"); }

class InitialisersFail
{
    static void Try(string name, Action action)
    {
        try { Console.WriteLine(name); action(); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name + ": " + e.InnerException.GetType().Name + (e is TypeInitializationException t ? " " + t.TypeName : "")); }
    }
    static void Names(bool b)
    {
        Console.WriteLine("Names");
        try { if (b) Console.WriteLine(Bad.X); }
        catch (TypeInitializationException) { Console.WriteLine("caught inside"); }
    }
    static void There(bool b) { Console.WriteLine("There"); if (b) Console.WriteLine(Elsewhere.X); }
    static void InDomain() { There(false); }

    static void Main()
    {
        Try("call", () => Names(false));
        Try("again", () => Names(true));
        Try("nested", UsesBad.M);
        Try("nested again", UsesBad.M);
        Try("new", () => new Bad().M());
        Try("activate", () => Activator.CreateInstance(typeof(Bad)));
        Try("invoke", () => typeof(UsesBad).GetMethod("M").Invoke(null, null));

        var threads = new Thread[2];
        for (int i = 0; i < 2; i++)
            (threads[i] = new Thread(() => { if (Slow.Get() != 5) Console.WriteLine("not initialised"); })).Start();
        foreach (var t in threads) t.Join();
        threads[0] = new Thread(() => Left.Get());
        threads[1] = new Thread(() => Right.Get());
        foreach (var t in threads) t.Start();
        foreach (var t in threads) t.Join();
        Console.WriteLine("no deadlock");

        There(false);
        AppDomain.CreateDomain("other").DoCallBack(InDomain);
        There(false);

        var method = new DynamicMethod("Dynamic", typeof(int), new[] { typeof(bool) }, typeof(InitialisersFail).Module);
        var il = method.GetILGenerator();
        var skip = il.DefineLabel();
        il.EmitWriteLine("Dynamic");
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brfalse, skip);
        il.Emit(OpCodes.Ldsfld, typeof(InDynamic).GetField("X"));
        il.Emit(OpCodes.Ret);
        il.MarkLabel(skip);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ret);
        ((Func<bool, int>)method.CreateDelegate(typeof(Func<bool, int>)))(false);
    }
}
