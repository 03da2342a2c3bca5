// Weak references and handles to objects that the runtime itself keeps: they live as long as what they stand for.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

static class RuntimeObjects
{
    static object garbage;
    static void Churn() { for (int i = 0; i < 20000; i++) garbage = new object[i % 7]; GC.Collect(0); GC.Collect(); GC.WaitForPendingFinalizers(); GC.Collect(); }

    static void Main()
    {
        var names = new[] { "domain", "type", "generic type", "array type", "assembly", "thread", "literal", "empty string", "main method's module" };
        var weak = new[] {
            new WeakReference(AppDomain.CurrentDomain), new WeakReference(typeof(RuntimeObjects)),
            new WeakReference(typeof(System.Collections.Generic.List<string>)), new WeakReference(typeof(string[,])),
            new WeakReference(Assembly.GetExecutingAssembly()), new WeakReference(Thread.CurrentThread),
            new WeakReference("a literal"), new WeakReference(string.Empty), new WeakReference(typeof(RuntimeObjects).Module) };
        var handles = new GCHandle[weak.Length];
        var tracks = new GCHandle[weak.Length];
        var hashes = new int[weak.Length];
        for (int i = 0; i < weak.Length; i++) {
            handles[i] = GCHandle.Alloc(weak[i].Target, GCHandleType.Weak);
            tracks[i] = GCHandle.Alloc(weak[i].Target, GCHandleType.WeakTrackResurrection);
            hashes[i] = weak[i].Target.GetHashCode();
        }
        for (int i = 0; i < 5; i++) Churn();
        for (int i = 0; i < weak.Length; i++)
            if (!weak[i].IsAlive || handles[i].Target != weak[i].Target || tracks[i].Target != weak[i].Target || hashes[i] != weak[i].Target.GetHashCode())
                Console.WriteLine(names[i] + " is lost");
        Console.WriteLine(weak[0].Target == AppDomain.CurrentDomain);                   // expect: True
        Console.WriteLine(weak[1].Target == typeof(RuntimeObjects));                    // expect: True
        Console.WriteLine(weak[2].Target == typeof(System.Collections.Generic.List<string>));   // expect: True
        Console.WriteLine(weak[5].Target == Thread.CurrentThread);                      // expect: True
        Console.WriteLine(ReferenceEquals(weak[6].Target, "a literal"));                // expect: True

        // A delegate that only native code knows is the program's to keep; one kept by a handle lives.
        Comparison compare = (a, b) => Marshal.ReadInt32(a) - Marshal.ReadInt32(b);
        var kept = GCHandle.Alloc(compare);
        var pointer = Marshal.GetFunctionPointerForDelegate(compare);
        compare = null;
        Churn();
        var numbers = new int[1000];
        for (int i = 0; i < numbers.Length; i++) numbers[i] = (i * 7919) % 1000;
        qsort(numbers, (IntPtr)numbers.Length, (IntPtr)4, pointer);
        bool sorted = true;
        for (int i = 0; i < numbers.Length; i++) sorted &= numbers[i] == i;
        Console.WriteLine(sorted);                                                      // expect: True
        kept.Free();

        // Collections inside the callbacks, while native code sorts an array that is pinned for the call.
        int calls = 0;
        Comparison collecting = (a, b) => { if (calls++ % 500 == 0) Churn(); return Marshal.ReadInt32(b) - Marshal.ReadInt32(a); };
        qsort(numbers, (IntPtr)numbers.Length, (IntPtr)4, Marshal.GetFunctionPointerForDelegate(collecting));
        GC.KeepAlive(collecting);
        for (int i = 0; i < numbers.Length; i++) sorted &= numbers[i] == 999 - i;
        Console.WriteLine(sorted);                                                      // expect: True

        // Members looked up again are equal, whether or not their objects were collected meanwhile.
        var method = typeof(RuntimeObjects).GetMethod("Churn", BindingFlags.NonPublic | BindingFlags.Static);
        Churn();
        Console.WriteLine(method == typeof(RuntimeObjects).GetMethod("Churn", BindingFlags.NonPublic | BindingFlags.Static));   // expect: True
        method.Invoke(null, null);
    }

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)] delegate int Comparison(IntPtr a, IntPtr b);
    [DllImport("libc")] static extern void qsort([In, Out] int[] items, IntPtr count, IntPtr size, IntPtr compare);
}
