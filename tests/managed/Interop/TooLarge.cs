// A native form of 2 GB and more has no size that an int can tell (mono's wraps around): TypeLoadException.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, CharSet = CharSet.Unicode)]
class Large {
    [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 0x1fffffff)] public string A;
}
[StructLayout(LayoutKind.Sequential, CharSet = CharSet.Unicode)]
class TooLarge {
    [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 0x1fffffff)] public string A, B, C, D, E;
    public int F;
}

class Program {
    static void Ask(Type type) {
        try { Console.WriteLine(Marshal.SizeOf(type)); } catch (Exception e) { Console.WriteLine(e.GetType().Name); }
    }
    static void Main() {
        Ask(typeof(Large)); // expect: 1073741822
        Ask(typeof(TooLarge)); // expect: TypeLoadException
    }
}
