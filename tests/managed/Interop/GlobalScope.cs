// A library that a program opens is in the process's scope: others find its symbols there, as GtkBuilder finds types.
// cc: -D_GNU_SOURCE
using System;
using System.Runtime.InteropServices;

static class GlobalScope
{
    [DllImport("GlobalScope")] static extern int only_here(int x);
    [DllImport("libc.so.6")] static extern IntPtr dlopen(string name, int flags);
    [DllImport("libc.so.6")] static extern IntPtr dlsym(IntPtr library, string name);
    [DllImport("libc.so.6", EntryPoint = "dlsym")] static extern IntPtr dlsym_anywhere(IntPtr library, string name);

    static void Main()
    {
        Console.WriteLine(only_here(1)); // expect: 2
        IntPtr process = dlopen(null, 1);
        Console.WriteLine(dlsym(process, "only_here") != IntPtr.Zero); // expect: True
        Console.WriteLine(dlsym_anywhere(IntPtr.Zero, "only_here") != IntPtr.Zero); // expect: True
        Console.WriteLine(dlsym(process, "not_there_at_all") == IntPtr.Zero); // expect: True
    }
}
