// What programs do that a runtime which keeps files must not mind: MODE [ARGUMENT].
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Held {
    public static readonly int Value;
    static Held() { Value = 1; }
}
static class Inlined {
    // With a constructor to run first, this is no longer inlined: so what the caller's compile loads depends on whether it has run.
    public static int Get(int n) {
        int held = Held.Value;
        if (n == 0) throw new InvalidOperationException();
        return held + Library.Plain.Zero;
    }
}
static class Odd {
    [DllImport("libc")] static extern int close(int descriptor);
    [DllImport("libc")] static extern int open(string path, int flags);
    [DllImport("libc")] static extern uint umask(uint mask);
    [DllImport("libc")] static extern IntPtr mmap(IntPtr at, IntPtr len, int protection, int flags, int descriptor, IntPtr offset);
    // Stores each number that is read over the lowest byte of the constant 0x112233??.
    static void Store(string path) {
        byte[] bytes = System.IO.File.ReadAllBytes(path);
        int at = 1;
        while (bytes[at] != 0x33 || bytes[at + 1] != 0x22 || bytes[at + 2] != 0x11) at++;
        IntPtr map = mmap(IntPtr.Zero, (IntPtr)bytes.Length, 3, 1, open(path, 2), IntPtr.Zero);
        for (string line; (line = Console.ReadLine()) != null;) {
            Marshal.WriteByte(map, at - 1, byte.Parse(line));
            Console.WriteLine("stored");
        }
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Calls(bool really) { return really ? Inlined.Get(1) : 0; }
    // What nothing has called before.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Later() {
        var sorted = new SortedList<string, int> { { "b", 2 }, { "a", 1 } };
        return string.Join(",", sorted.Keys) + new Version(1, 2, 3) + DateTime.FromBinary(0).AddDays(1).Day;
    }
    static int Main(string[] args) {
        switch (args[0]) {
            case "close":
                // As daemons do. Not the four that the runtime keeps for its signals.
                for (int n = 3; n < 400; n++) if (n < 200 || n > 203) close(n);
                for (int n = 0; n < 20; n++) open(args[1], 0x10000);
                break;
            case "wait":
                Console.WriteLine("ready");
                Console.ReadLine();
                break;
            case "serve":
                Console.WriteLine(Later());
                Thread.Sleep(Timeout.Infinite);
                break;
            case "throw":
                Console.WriteLine(Later());
                throw new InvalidOperationException();
            case "store":
                Store(args[1]);
                return 0;
            case "umask":
                umask(511);
                break;
            case "first":
                Console.WriteLine(Held.Value);
                goto case "last";
            case "last":
                AppDomain.CurrentDomain.AssemblyLoad += (o, e) => Console.WriteLine("loaded " + e.LoadedAssembly.GetName().Name);
                Console.WriteLine(Calls(false));
                Console.WriteLine(AppDomain.CurrentDomain.GetAssemblies().Length);
                break;
        }
        Console.WriteLine(Later());
        return 0;
    }
}
