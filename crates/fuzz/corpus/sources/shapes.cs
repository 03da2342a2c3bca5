// A bit of everything that metadata can say: what mutated images start from. `corpus/image/shapes.dll` is this and marks.cs,
// `mcs -debug -unsafe -target:library`.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Security.Permissions;

[assembly: AssemblyVersion("1.2.3.4")]
[assembly: AssemblyTitle("shapes")]
[assembly: InternalsVisibleTo("friend")]

[Flags] public enum Wide : long { None, All = -1 }

public interface IShape { double Area { get; } void Draw(int depth); event EventHandler Drawn; }
public interface IBox<out T> : IShape { T Content { get; } }
public interface ISink<in T> where T : class { void Put(T item); }

[Mark(7, "text", typeof(List<int>), 5L, Small.B, 1, 2, 3, Name = "n", Types = new[] { typeof(int), typeof(string[]) }, Anything = "x")]
public abstract class Shape : IShape {
    protected int depth = 3;
    public static readonly string[] Names = { "one", "two", "\u00e9" };
    public const string Text = "constant";
    public const decimal Price = 1.5m;
    public const double Pi = 3.14;
    public abstract double Area { get; }
    public virtual void Draw(int depth) { if (Drawn != null) Drawn(this, EventArgs.Empty); }
    public event EventHandler Drawn;
    public override string ToString() { return Area.ToString(); }
    ~Shape() { depth = 0; }
}

public class Box<T> : Shape, IBox<T>, IEnumerable<T> where T : new() {
    T content = new T();
    public T Content { get { return content; } }
    public override double Area { get { return 1; } }
    public U Map<U>(Func<T, U> f) where U : class, IComparable<U> { return f(content); }
    public IEnumerator<T> GetEnumerator() { yield return content; }
    System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() { return GetEnumerator(); }
    void IShape.Draw(int depth) { base.Draw(depth); }
    public class Inner<V> { public T Outer; public V Own; public class Deep { public Dictionary<T, V[]> Map; } }
    public T this[int i, string key] { get { return content; } set { content = value; } }
}

public class IntBox : Box<int>, IComparable<IntBox> {
    public int CompareTo(IntBox other) { return 0; }
    public override double Area { get { return base.Area + Content; } }
    public static IntBox operator +(IntBox a, IntBox b) { return a; }
    public static implicit operator int(IntBox b) { return b.Content; }
}

[StructLayout(LayoutKind.Explicit, Size = 24)]
public struct Union {
    [FieldOffset(0)] public int I;
    [FieldOffset(0)] public float F;
    [FieldOffset(8)] public string S;
    [FieldOffset(16)] public long L;
}
[StructLayout(LayoutKind.Sequential, Pack = 2, CharSet = CharSet.Unicode)]
public unsafe struct Packed {
    public byte B; public int I; public fixed char Buffer[16];
    [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 8)] public string Text;
    [MarshalAs(UnmanagedType.ByValArray, SizeConst = 4)] public int[] Numbers;
}
public struct Generic<T> where T : struct { public T? Value; public Generic<T>[] More; }

public static class Native {
    [DllImport("libc", EntryPoint = "getpid", SetLastError = true)] public static extern int Pid();
    [DllImport("libc", CharSet = CharSet.Ansi)] [return: MarshalAs(UnmanagedType.I4)]
    public static extern int puts([MarshalAs(UnmanagedType.LPStr)] string text, ref Packed p, out int n, IntPtr q);
    public delegate int Callback(int a, ref string b, params object[] rest);
}

public static class Code {
    static int counter;
    static Code() { counter = 1; }
    public static int Switch(int n) {
        switch (n) { case 0: return 5; case 1: return 6; case 2: return 9; case 3: return 1; case 4: return 0; default: return -1; }
    }
    public static int Handlers(object o) {
        try { try { return ((string)o).Length; } finally { counter++; } }
        catch (InvalidCastException e) when (e.Message != null) { return -1; }
        catch (Exception) { throw; }
    }
    public static unsafe long Pointers(int n, __arglist) {
        long* p = stackalloc long[n];
        fixed (char* c = "text") { p[0] = c[1]; }
        var it = new ArgIterator(__arglist);
        TypedReference r = it.GetNextArg();
        return p[0] + __refvalue(r, int);
    }
    public static int[,] Matrix() { var m = new int[2, 3]; m[1, 2] = 7; int[][,] j = { m }; return j[0]; }
    [MethodImpl(MethodImplOptions.Synchronized | MethodImplOptions.NoInlining)]
    public static object Boxing(Small s) { object o = s; var f = new Func<int, int>(x => x + (int)(Small)o); return f(1); }
    [SecurityPermission(SecurityAction.Demand, UnmanagedCode = true)]
    public static void Optional([Optional, DefaultParameterValue(5)] int a, string b = "x", Wide w = Wide.All) { }
    public static readonly byte[] Data = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    public static volatile int Flag;
    public static IBox<object> Variance() { IBox<object> b = (IBox<object>)(object)new Box<object>(); return b; }
}
