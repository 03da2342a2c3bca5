// Native text cannot have half of a character: ArgumentException, as in mono.
using System;
using System.Runtime.InteropServices;

class Program {
    static void Ask(string text) {
        try {
            IntPtr p = Marshal.StringToHGlobalAnsi(text);
            Console.WriteLine("{0:x}", Marshal.ReadInt32(p));
            Marshal.FreeHGlobal(p);
        } catch (Exception e) { Console.WriteLine(e.GetType().Name); }
    }
    static void Main() {
        Ask("\ud83d\ude00"); // expect: 80989ff0
        Ask("a\ud83d"); // expect: ArgumentException
        Ask("\ude00a"); // expect: ArgumentException
    }
}
