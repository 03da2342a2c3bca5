// What one life of a domain leaves behind does not reach the next: calls that were under way, literals of dynamic methods, finalizers of finalizers.
using System;
using System.Reflection.Emit;
using System.Runtime.Serialization;
using System.Threading;

enum Level : byte { Low = 1, High = 200 }

[Serializable]
class OnTheWay : ISerializable
{
    [NonSerialized] readonly Action then;
    public OnTheWay(Action then) { this.then = then; }
    protected OnTheWay(SerializationInfo info, StreamingContext context) { }
    public void GetObjectData(SerializationInfo info, StreamingContext context) { if (then != null) then(); }
}

[Serializable]
class SlowException : Exception
{
    public static EventWaitHandle Reached;
    public SlowException() { }
    protected SlowException(SerializationInfo info, StreamingContext context) : base(info, context) { }
    public override void GetObjectData(SerializationInfo info, StreamingContext context)
    {
        base.GetObjectData(info, context);
        Reached.Set();
        Thread.Sleep(300);
    }
}

class Resident : MarshalByRefObject
{
    static int calls;
    public string Call(OnTheWay given) { return "call " + ++calls + " in " + AppDomain.CurrentDomain.FriendlyName; }
    public void Throw(EventWaitHandle reached) { SlowException.Reached = reached; throw new SlowException(); }
    public Level[] Levels() { return new[] { Level.Low, Level.High }; }
    public Array AsArray() { return Levels(); }
    public object Box() { return Level.High; }
    public DayOfWeek[] Days() { return new[] { DayOfWeek.Friday }; }
    public int RunDynamic(int methods, int literals)
    {
        int length = 0;
        for (int i = 0; i < methods; i++)
        {
            var method = new DynamicMethod("m", typeof(string), Type.EmptyTypes, typeof(Resident).Module);
            var il = method.GetILGenerator();
            for (int k = 0; k < literals; k++)
            {
                il.Emit(OpCodes.Ldstr, "literal " + i + " " + k);
                if (k + 1 < literals) il.Emit(OpCodes.Pop);
            }
            il.Emit(OpCodes.Ret);
            length += ((Func<string>)method.CreateDelegate(typeof(Func<string>)))().Length;
        }
        return length;
    }
    public void LeaveFinalizable() { new Outer(); }
    class Outer { ~Outer() { new Inner(); } }
    // (A collection just before the unload finds Outer: then Inner is finalized in its own life.)
    class Inner { ~Inner() { if (AppDomain.CurrentDomain.FriendlyName != "before") Console.WriteLine("a finalizer in " + AppDomain.CurrentDomain.FriendlyName); } }
}

static class Lives
{
    static AppDomain last;
    static Resident Make(string name)
    {
        last = AppDomain.CreateDomain(name);
        return (Resident)last.CreateInstanceAndUnwrap(typeof(Resident).Assembly.FullName, "Resident");
    }

    // The arguments of a call are serialized while the domain ends and the next begins.
    static void Calls()
    {
        var resident = Make("first");
        Resident next = null;
        try { Console.WriteLine(resident.Call(new OnTheWay(() => { AppDomain.Unload(last); next = Make("second"); }))); }
        catch (Exception) { Console.WriteLine("not called"); }
        Console.WriteLine(next.Call(new OnTheWay(null)));
        AppDomain.Unload(last);
    }

    // A domain ends while an exception that leaves it is serialized.
    static void Exceptions()
    {
        var resident = Make("throws");
        var reached = new ManualResetEvent(false);
        var thread = new Thread(() =>
        {
            try { resident.Throw(reached); }
            catch (Exception e) { Console.WriteLine(e is SlowException || e is AppDomainUnloadedException ? "thrown" : e.GetType().Name); }
        });
        thread.Start();
        reached.WaitOne();
        AppDomain.Unload(last);
        thread.Join();
    }

    // Slots of a dynamic method's literals are given to others in the next life.
    static void Literals()
    {
        for (int life = 0; life < 3; life++)
        {
            var resident = Make("literals");
            Console.WriteLine(resident.RunDynamic(life == 0 ? 30 : 0, 100));
            var own = new string[6000];
            for (int i = 0; i < own.Length; i++) own[i] = string.Intern("own " + life + " " + i);
            AppDomain.Unload(last);
            int lost = 0;
            for (int i = 0; i < own.Length; i++) if ((object)string.IsInterned("own " + life + " " + i) != own[i]) lost++;
            Console.WriteLine(lost + " lost");
        }
    }

    static void Finalizers()
    {
        Make("before").LeaveFinalizable();
        AppDomain.Unload(last);
        Make("after");
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        AppDomain.Unload(last);
    }

    // The program's enumerations are others in each domain.
    static void Enumerations()
    {
        var resident = Make("levels");
        Console.WriteLine(resident.Levels().GetType() == typeof(Level[]));
        Console.WriteLine(resident.AsArray() is Level[]);
        Console.WriteLine(resident.Box() is Level);
        Console.WriteLine(resident.Days()[0]);
        AppDomain.Unload(last);
    }

    static void Main()
    {
        Calls();
        Exceptions();
        Literals();
        Finalizers();
        Enumerations();
    }
}
