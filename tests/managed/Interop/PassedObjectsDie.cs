// An object that was passed to native code dies when nothing refers to it, though the method that made the call goes on.
// expect: found 3 dead 3
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential)]
class Passed
{
    public static int Dead;
    public int A = 1, B = 2;
    ~Passed() { Dead++; }
}

static class PassedObjectsDie
{
    [DllImport("libc.so.6", EntryPoint = "memchr")] static extern IntPtr Find([In, Out] Passed passed, int value, IntPtr size);
    [MethodImpl(MethodImplOptions.NoInlining)] static Passed Make() { return new Passed(); }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Deep(int n) { return n == 0 ? 0 : Deep(n - 1) + 1; }

    static void Main()
    {
        int found = 0;
        if (Find(Make(), 2, (IntPtr)8) != IntPtr.Zero) found++;
        if (Find(Make(), 2, (IntPtr)8) != IntPtr.Zero) found++;
        if (Find(Make(), 2, (IntPtr)8) != IntPtr.Zero) found++;
        // (The loop stands in a finally block, where quick code could not be left. So the method is optimised at its first call: quick code leaves what it
        // has computed in its frame.)
        try { }
        finally
        {
            for (int i = 0; i < 5; i++) { Deep(200); GC.Collect(); GC.WaitForPendingFinalizers(); }
        }
        Console.WriteLine("found {0} dead {1}", found, Passed.Dead);
    }
}
