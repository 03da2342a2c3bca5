// mcs: -r:Mono.Tasklets.dll
// split: no, the messages are those of an ordinary thread
// green: no, as above
using System;
using System.Reflection;
using Mono.Tasklets;

// Where a continuation cannot go on, an exception says why, and the program goes on.
static class TaskletsRefused
{
    static void Try(string what, Action a)
    {
        try { a(); Console.WriteLine("{0}: done", what); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message); }
    }

    static Continuation c;
    static int Marks() { c = new Continuation(); c.Mark(); return c.Store(0); }
    public static void Stores() { c.Store(0); }
    public static void Restores() { c.Restore(1); }

    static void Main()
    {
        Try("callers gone", () => { Marks(); Restores(); });
        // expect: callers gone: NotSupportedException: The callers of the marked frame are not at the calls where it was marked
        Try("marked frame gone", () => { Marks(); Stores(); });
        // expect: marked frame gone: NotSupportedException: The marked frame is not active, or native frames lie behind it
        Try("native frames", () => {
            c = new Continuation();
            c.Mark();
            try { typeof(TaskletsRefused).GetMethod("Stores").Invoke(null, null); }
            catch (TargetInvocationException e) { throw e.InnerException; }
        });
        // expect: native frames: NotSupportedException: The marked frame is not active, or native frames lie behind it
        Try("native frames on the way back", () => {
            c = new Continuation();
            c.Mark();
            if (c.Store(0) != 0) throw new Exception("went on");
            try { typeof(TaskletsRefused).GetMethod("Restores").Invoke(null, null); }
            catch (TargetInvocationException e) { throw e.InnerException; }
        });
        // expect: native frames on the way back: NotSupportedException: The callers of the marked frame are not at the calls where it was marked
        Try("another number", () => {
            var field = typeof(Continuation).GetField("cont", BindingFlags.NonPublic | BindingFlags.Instance);
            var broken = new Continuation();
            field.SetValue(broken, (IntPtr)12345678);
            broken.Mark();
        });
        // expect: another number: ArgumentException: Continuation not initialized
        // expect: Parameter name: cont
        Try("plain", () => {
            c = new Continuation();
            c.Mark();
            int state = c.Store(0);
            if (state < 3) c.Restore(state + 1);
        });
        // expect: plain: done
    }
}
