// The trace of Monitor.Enter(null) through a delegate has the method: only an instruction that names it calls another function.
using System;
using System.Reflection;
using System.Threading;

static class MonitorFramesOfDelegates
{
    delegate void Locks(object on, ref bool taken);

    static void Show(Action a)
    {
        try
        {
            a();
        }
        catch (ArgumentNullException e)
        {
            Console.WriteLine(e.StackTrace.Split('\n')[0].Split('[')[0].Trim());
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.StackTrace.Split('\n')[0].Split('[')[0].Trim());
        }
    }
    static void Both(Action<object> enter)
    {
        lock (enter)
            enter(null);
    }
    static void Main()
    {
        Action<object> enter = Monitor.Enter;
        Locks locks = Monitor.Enter;
        bool taken = false;
        Show(() => enter(null)); // expect: at (wrapper managed-to-native) System.Threading.Monitor.Enter(object)
        Show(() => locks(null, ref taken)); // expect: at System.Threading.Monitor.ReliableEnterTimeout (System.Object obj, System.Int32 timeout, System.Boolean& lockTaken)
        Show(() => Both(enter)); // expect: at (wrapper managed-to-native) System.Threading.Monitor.Enter(object)
        Show(() => { enter += Monitor.Exit; enter(null); }); // expect: at (wrapper managed-to-native) System.Threading.Monitor.Enter(object)
        Show(() => locks.DynamicInvoke(null, false)); // expect: at System.Threading.Monitor.ReliableEnterTimeout (System.Object obj, System.Int32 timeout, System.Boolean& lockTaken)
        Show(() => Monitor.Enter(null)); // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_monitor_enter_internal(object)
    }
}
