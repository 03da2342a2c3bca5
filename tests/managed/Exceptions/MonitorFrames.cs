// The trace of a `lock` of null has the native function that mono calls for it. A call through reflection calls the method.
using System;
using System.Reflection;
using System.Threading;

static class MonitorFrames
{
    static void Show(Action a)
    {
        try
        {
            a();
        }
        catch (ArgumentNullException e)
        {
            Console.WriteLine(e.StackTrace.Split('\n')[0].Trim());
            Console.WriteLine(e.StackTrace.Split('\n')[1].Contains("MonitorFrames"));
        }
    }
    static void Reflect(params Type[] parameters)
    {
        try
        {
            typeof(Monitor).GetMethod("Enter", parameters).Invoke(null, parameters.Length == 1 ? new object[] { null } : new object[] { null, false });
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.StackTrace.Split('\n')[0].Split('[')[0].Trim());
        }
    }
    static void Main()
    {
        object none = null;
        Show(() => { lock (none) { } });
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_monitor_enter_v4_internal(object,intptr)
        // expect: True
        Show(() => Monitor.Enter(none));
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_monitor_enter_internal(object)
        // expect: True
        Reflect(typeof(object));
        // expect: at (wrapper managed-to-native) System.Threading.Monitor.Enter(object)
        Reflect(typeof(object), typeof(bool).MakeByRefType());
        // expect: at System.Threading.Monitor.ReliableEnterTimeout (System.Object obj, System.Int32 timeout, System.Boolean& lockTaken)
    }
}
