// The trace of a `lock` of null has the native function that mono calls for it.
using System;
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
    static void Main()
    {
        object none = null;
        Show(() => { lock (none) { } });
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_monitor_enter_v4_internal(object,intptr)
        // expect: True
        Show(() => Monitor.Enter(none));
        // expect: at (wrapper managed-to-native) System.Object.__icall_wrapper_mono_monitor_enter_internal(object)
        // expect: True
    }
}
