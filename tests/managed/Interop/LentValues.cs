// What native code is lent and may leave or replace: SafeHandles, arrays of strings, null addresses of optional results, BSTRs, clones of delegates.
// Mono calls another delegate through a clone's address, and aborts on a builder as BSTR.
// cc:
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static unsafe class LentValues
{
    const string L = "LentValues";
    sealed class Handle : SafeHandle
    {
        public Handle() : base(IntPtr.Zero, true) { }
        public Handle(int value) : base(IntPtr.Zero, true) { SetHandle((IntPtr)value); }
        public override bool IsInvalid => handle == IntPtr.Zero;
        protected override bool ReleaseHandle() { Console.WriteLine("release " + handle); return true; }
    }
    [DllImport(L)] static extern void leave(ref Handle h);
    [DllImport(L, EntryPoint = "leave")] static extern void leave_in([In] ref Handle h);
    [DllImport(L)] static extern void replace(ref Handle h);
    [DllImport(L, EntryPoint = "leave")] static extern void leave(ref string[] texts);
    [StructLayout(LayoutKind.Sequential)] struct Named { public string Name; public bool Flag; }
    [DllImport(L, EntryPoint = "leave")] static extern void leave(ref Named[] all);
    [DllImport(L)] static extern long in_use();
    [DllImport(L)] static extern int odd_bstr([MarshalAs(UnmanagedType.BStr)] string s);
    [DllImport(L, EntryPoint = "leave")] static extern void builder([MarshalAs(UnmanagedType.BStr)] ref StringBuilder s);

    [StructLayout(LayoutKind.Sequential)] struct Big { public long A, B, C, D, E; }
    delegate int RefBool(ref bool b); delegate int OutBool(out bool b); delegate int RefNamed(ref Named n); delegate int OutNamed(out Named n);
    delegate int AsPointer([MarshalAs(UnmanagedType.LPStruct)] Big b);
    delegate int NamedAsPointer([MarshalAs(UnmanagedType.LPStruct)] Named b);
    [DllImport(L)] static extern int with_null(RefBool f); [DllImport(L)] static extern int with_null(OutBool f);
    [DllImport(L)] static extern int with_null(RefNamed f); [DllImport(L)] static extern int with_null(OutNamed f);
    [DllImport(L)] static extern int with_null(AsPointer f); [DllImport(L)] static extern int with_null(NamedAsPointer f);
    [DllImport(L)] static extern long with_big(AsPointer f);

    delegate int Number(int x);
    delegate long Other(long x);
    [DllImport(L)] static extern int call(Number f, int x);
    [DllImport(L)] static extern IntPtr echo(Number f);
    [DllImport(L, EntryPoint = "echo")] static extern Other echo_as_other(Number f);
    [MethodImpl(MethodImplOptions.NoInlining)] static Number Make(int k) => x => x + k;
    [MethodImpl(MethodImplOptions.NoInlining)] static Number CloneOfUsed() { var made = Make(1000000); call(made, 1); return (Number)made.Clone(); }

    static void Main()
    {
        var h = new Handle(5); var first = h;
        leave(ref h); Console.WriteLine(ReferenceEquals(first, h)); first.Dispose(); // expect: True
        // expect: release 5
        h = first = new Handle(6);
        replace(ref h); Console.WriteLine(ReferenceEquals(first, h) + " " + h.DangerousGetHandle()); first.Dispose(); // expect: False 106
        // expect: release 6
        h.Dispose(); // expect: release 106
        h = first = new Handle(7);
        leave_in(ref h); first.Dispose(); // expect: release 7

        var texts = new[] { "one", "two", "three" };
        var named = new[] { new Named { Name = "a", Flag = true }, new Named { Name = "b" } };
        leave(ref texts); leave(ref named);
        Console.WriteLine(string.Join(" ", texts) + " " + named[0].Name + named[0].Flag + named[1].Name + named[1].Flag); // expect: one two three aTruebFalse
        long before = in_use();
        for (int i = 0; i < 30000; i++) { leave(ref texts); leave(ref named); }
        Console.WriteLine(in_use() - before < 10000000); // expect: True

        int wrong = 0;
        for (int i = 0; i < 4000; i++) if (odd_bstr(new string('x', i % 40)) != i % 40) wrong++;
        Console.WriteLine(wrong); // expect: 0
        var text = new StringBuilder("x");
        try { builder(ref text); } catch (MarshalDirectiveException) { Console.WriteLine("refused"); } // expect: refused

        Console.WriteLine(with_null((ref bool b) => { bool was = b; b = true; return was ? 0 : 1; })); // expect: 1
        Console.WriteLine(with_null((out bool b) => { b = true; return 1; })); // expect: 1
        Console.WriteLine(with_null((ref Named n) => { bool none = n.Name == null; n.Name = "x"; return none ? 1 : 0; })); // expect: 1
        Console.WriteLine(with_null((out Named n) => { n = new Named { Name = "x" }; return 1; })); // expect: 1
        Console.WriteLine(with_null((Big b) => b.A == 0 && b.E == 0 ? 1 : 0)); // expect: 1
        Console.WriteLine(with_null((Named n) => n.Name == null ? 1 : 0)); // expect: 1
        Console.WriteLine(with_big((Big b) => { b.A = 77; return (int)b.E; })); // expect: 501

        Number clone = null;
        var thread = new Thread(() => clone = CloneOfUsed());
        thread.Start(); thread.Join();
        var kept = new List<Number>();
        for (int i = 0; i < 500; i++) { if (i % 100 == 0) GC.Collect(); kept.Add(Make(i)); call(kept[i], 1); }
        Console.WriteLine(call(clone, 1)); // expect: 1000001
        GC.KeepAlive(kept);

        Number number = x => x + 1;
        object other = echo_as_other(number);
        Console.WriteLine(other is Other); // expect: True
        Console.WriteLine(((Other)other)(41)); // expect: 42
        GC.KeepAlive(number);
    }
}
