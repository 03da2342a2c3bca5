// An abort that has ended one unmanaged call is raised before the next, which stands in the same method without a check of the stack between them.
// expect: aborted True
using System;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;

static class AbortCalli
{
    [DllImport("libc")]
    static extern IntPtr dlsym(IntPtr library, string name);

    delegate void Loop(IntPtr function);

    static void Main()
    {
        var poll = dlsym(IntPtr.Zero, "poll");
        var method = new DynamicMethod("loop", typeof(void), new[] { typeof(IntPtr) }, typeof(AbortCalli).Module);
        var il = method.GetILGenerator();
        for (int i = 0; i < 2; i++)
        {
            il.Emit(OpCodes.Ldc_I4_0);
            il.Emit(OpCodes.Conv_I);
            il.Emit(OpCodes.Ldc_I4_0);
            il.Emit(OpCodes.Conv_I);
            il.Emit(OpCodes.Ldc_I4_M1);
            il.Emit(OpCodes.Ldarg_0);
            il.EmitCalli(OpCodes.Calli, CallingConvention.Cdecl, typeof(int), new[] { typeof(IntPtr), typeof(IntPtr), typeof(int) });
            il.Emit(OpCodes.Pop);
        }
        il.Emit(OpCodes.Ret);
        var loop = (Loop)method.CreateDelegate(typeof(Loop));
        string end = "not aborted";
        var thread = new Thread(() => { try { loop(poll); } catch (ThreadAbortException) { end = "aborted"; } }) { IsBackground = true };
        thread.Start();
        Thread.Sleep(300);
        thread.Abort();
        bool joined = thread.Join(30000);
        Console.WriteLine(end + " " + joined);
        Environment.Exit(0);
    }
}
