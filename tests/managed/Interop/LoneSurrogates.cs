// Native text cannot have half of a character, however it is handed over: by Marshal, as an argument, in a struct, in an array, in a StringBuilder.
using System;
using System.Runtime.InteropServices;
using System.Text;

class Program {
    struct Holder { public string Text; }
    struct Inline { [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 8)] public string Text; }
    [DllImport("libc", EntryPoint = "strlen")] static extern IntPtr Length(string text);
    [DllImport("libc", EntryPoint = "strlen")] static extern IntPtr Length(StringBuilder text);
    [DllImport("libc", EntryPoint = "labs")] static extern IntPtr First(ref Holder holder);
    [DllImport("libc", EntryPoint = "labs")] static extern IntPtr First(ref Inline holder);
    [DllImport("libc", EntryPoint = "labs")] static extern IntPtr First(string[] texts);
    [DllImport("libc", EntryPoint = "labs", CharSet = CharSet.Unicode)] static extern IntPtr Wide(string text);

    static void Try(string what, Func<IntPtr> call) {
        try {
            Console.WriteLine("{0}: {1}", what, call() != IntPtr.Zero);
        } catch (Exception e) {
            Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message);
        }
    }
    static void Main() {
        foreach (string text in new[] { "\ud83d\ude00", "a\ud83d", "\ud83da", "\ude00a", "\ud83d\ud83d\ude00" }) {
            Try("ansi", () => Marshal.StringToHGlobalAnsi(text));
            Try("argument", () => Length(text));
            Try("builder", () => Length(new StringBuilder(text)));
            Try("struct", () => { var h = new Holder { Text = text }; return First(ref h); });
            Try("inline", () => { var h = new Inline { Text = text }; return First(ref h); });
            Try("array", () => First(new[] { "a", text }));
            Try("wide", () => Wide(text));
        }
        // What lies behind a NUL is not read.
        Console.WriteLine(Length("x\0\ud83dz"));
        Console.WriteLine(Length(new StringBuilder("xy\0\ude00")));
    }
}
