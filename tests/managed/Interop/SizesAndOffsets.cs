// mcs: -nowarn:169,649
// Sizes and offsets of native forms: explicit offsets with a declared size, packing, generic structs, structs without fields, automatic layout, arrays in place, VARIANTs.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit,Size=6)] struct E6 { [FieldOffset(0)] public int a; }
[StructLayout(LayoutKind.Explicit,Size=5)] struct E5 { [FieldOffset(0)] public int a; }
[StructLayout(LayoutKind.Explicit)] struct E4 { [FieldOffset(0)] public int a; }
[StructLayout(LayoutKind.Explicit,Size=16)] struct E16 { [FieldOffset(0)] public long a; [FieldOffset(0)] public int b; }
[StructLayout(LayoutKind.Explicit,Size=16)] struct E16b { [FieldOffset(8)] public long a; }
struct H6 { public byte x; public E6 e; public byte y; }
struct H5 { public byte x; public E5 e; public byte y; }
struct H4 { public byte x; public E4 e; public byte y; }
struct H16 { public byte x; public E16 e; public byte y; }
struct H16b { public byte x; public E16b e; public byte y; }
[StructLayout(LayoutKind.Sequential,Pack=1)] struct HP { public byte x; public E16 e; public byte y; }
[StructLayout(LayoutKind.Explicit,Pack=16)] struct P16 { [FieldOffset(0)] public byte a; [FieldOffset(8)] public long b; [FieldOffset(16)] public byte c; }
[StructLayout(LayoutKind.Explicit,Pack=32)] struct P32 { [FieldOffset(0)] public byte a; [FieldOffset(8)] public long b; [FieldOffset(16)] public byte c; }
[StructLayout(LayoutKind.Explicit,Pack=4)] struct P4 { [FieldOffset(0)] public byte a; [FieldOffset(8)] public long b; [FieldOffset(16)] public byte c; }
[StructLayout(LayoutKind.Explicit,Pack=1)] struct P1 { [FieldOffset(0)] public byte a; [FieldOffset(8)] public long b; [FieldOffset(16)] public byte c; }
[StructLayout(LayoutKind.Explicit,Pack=16,Size=20)] struct P16s { [FieldOffset(0)] public byte a; [FieldOffset(8)] public long b; [FieldOffset(16)] public byte c; }
[StructLayout(LayoutKind.Explicit,Pack=8,Size=20)] struct P8s { [FieldOffset(0)] public byte a; [FieldOffset(8)] public long b; [FieldOffset(16)] public byte c; }
[StructLayout(LayoutKind.Sequential,Pack=16)] struct Q16 { public byte a; public long b; public byte c; }
[StructLayout(LayoutKind.Sequential,Pack=32)] struct Q32 { public byte a; public decimal b; public byte c; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] struct G<T> { public T a; public char c; public string s; public byte b; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] struct GN { public int a; public char c; public string s; public byte b; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] struct GT<T> { [MarshalAs(UnmanagedType.ByValTStr,SizeConst=5)] public string s; public T b; }
struct HG { public byte x; public G<int> g; public byte y; }
[StructLayout(LayoutKind.Sequential,Pack=1)] struct GP<T> { public byte x; public T y; }
[StructLayout(LayoutKind.Sequential,Size=20)] struct GS<T> { public byte x; public T y; }
struct Em {}
[StructLayout(LayoutKind.Sequential,Size=4)] struct Em4 {}
[StructLayout(LayoutKind.Explicit)] struct EmE {}
[StructLayout(LayoutKind.Explicit,Size=3)] struct EmE3 {}
struct HEm { public byte x; public Em e; public int y; }
struct HEm2 { public Em e; public Em f; }
struct HEm4 { public byte x; public Em4 e; public byte y; }
struct HEmE3 { public byte x; public EmE3 e; public int y; }
[StructLayout(LayoutKind.Sequential)] class EmC {}
[StructLayout(LayoutKind.Sequential,Size=7)] class EmC7 {}
struct HEmC { public byte x; public EmC e; public int y; }
struct HEmC7 { public byte x; public EmC7 e; public int y; }
[StructLayout(LayoutKind.Auto,Size=12)] struct Au { public byte a; public int b; }
[StructLayout(LayoutKind.Auto)] struct Au0 { public byte a; public int b; }
struct HAu { public byte x; public Au e; public int y; }
struct HAu0 { public byte x; public Au0 e; public int y; }
struct V { public byte x; [MarshalAs(UnmanagedType.Struct)] public object o; public byte y; }
struct SA { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public string[] o; public byte y; }
struct SA1 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public object[] o; public byte y; }
struct SA2 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public bool[] o; public byte y; }
struct SA3 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public decimal[] o; public byte y; }
struct SA4 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Action[] o; public byte y; }
struct SA5 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public EmC[] o; public byte y; }
struct SA6 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public IDisposable[] o; public byte y; }
struct SA7 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3,ArraySubType=UnmanagedType.LPWStr)] public string[] o; public byte y; }
struct SA8 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3,ArraySubType=UnmanagedType.I1)] public bool[] o; public byte y; }
struct SA9 { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public DateTime[] o; public byte y; }
struct SAa { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public long[] o; public byte y; }
struct SAb { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public char[] o; public byte y; }
struct SAc { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public E16[] o; public byte y; }
struct SAd { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public IntPtr[] o; public byte y; }
struct SAe { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Guid[] o; public byte y; }
struct SAf { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public DayOfWeek[] o; public byte y; }
struct SAg { public byte x; [MarshalAs(UnmanagedType.ByValArray)] public int[] o; public byte y; }
[StructLayout(LayoutKind.Sequential)] class Ring { public long v; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Ring[] o; public byte y; }
[StructLayout(LayoutKind.Sequential)] class Ring1 { public byte v; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Ring2[] o; public byte y; }
[StructLayout(LayoutKind.Sequential)] class Ring2 { public long v; public Ring1 o; public byte y; }
struct RingS { public byte v; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public RingS[] o; public byte y; }
struct Dec { public byte x; public decimal o; public byte y; }
struct Gu { public byte x; public Guid o; public byte y; }
struct DT { public byte x; public DateTime o; public byte y; }
struct TS { public byte x; public TimeSpan o; public byte y; }
struct NI { public byte x; public int? o; public byte y; }
struct DTO { public byte x; public DateTimeOffset o; public byte y; }
struct KV { public byte x; public KeyValuePair<byte,int> o; public byte y; }
struct FP { public byte x; [MarshalAs(UnmanagedType.FunctionPtr)] public Action o; public byte y; }
struct SAr { public byte x; [MarshalAs(UnmanagedType.SafeArray)] public int[] o; public byte y; }
struct LPA { public byte x; [MarshalAs(UnmanagedType.LPArray)] public int[] o; public byte y; }
struct NA { public byte x; public int[] o; public byte y; }
struct SB { public byte x; public System.Text.StringBuilder o; public byte y; }
struct Ob { public byte x; public object o; public byte y; }
struct Ty { public byte x; public Array o; public byte y; }
[StructLayout(LayoutKind.Explicit,Size=16)] class CE16 { [FieldOffset(0)] public long a; }
[StructLayout(LayoutKind.Explicit,Size=5)] class CE5 { [FieldOffset(0)] public int a; }
[StructLayout(LayoutKind.Explicit,Size=2)] struct E2 { [FieldOffset(0)] public int a; }
[StructLayout(LayoutKind.Explicit,Size=9,Pack=4)] struct E94 { [FieldOffset(0)] public long a; }
struct HCE16 { public byte x; public CE16 e; public byte y; }
struct HCE5 { public byte x; public CE5 e; public byte y; }
struct HE2 { public byte x; public E2 e; public byte y; }
struct HE94 { public byte x; public E94 e; public byte y; }
[StructLayout(LayoutKind.Sequential,Pack=8)] struct V8 { public byte x; [MarshalAs(UnmanagedType.Struct)] public object o; public byte y; }
[StructLayout(LayoutKind.Sequential,Pack=16)] struct V16 { public byte x; [MarshalAs(UnmanagedType.Struct)] public object o; public byte y; }
[StructLayout(LayoutKind.Explicit)] struct VE { [FieldOffset(0)] public byte x; [FieldOffset(8)][MarshalAs(UnmanagedType.Struct)] public object o;  }
struct HV { public byte x; public V v; }
struct HVE { public byte x; public VE v; }
[StructLayout(LayoutKind.Sequential)] class Inn { public byte b; public int c; }
struct SAi { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Inn[] o; public byte y; }
struct SAj { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3,ArraySubType=UnmanagedType.IUnknown)] public object[] o; public byte y; }
struct SAk { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Exception[] o; public byte y; }
struct SAl { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Microsoft.Win32.SafeHandles.SafeFileHandle[] o; public byte y; }
struct SAm { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public int[][] o; public byte y; }
struct SAn { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Em[] o; public byte y; }
struct SAo { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public Au[] o; public byte y; }
struct SAp { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=3)] public System.Text.StringBuilder[] o; public byte y; }
struct SAq { public byte x; [MarshalAs(UnmanagedType.ByValArray,SizeConst=0)] public int[] o; public byte y; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] struct U1 { [MarshalAs(UnmanagedType.ByValTStr,SizeConst=5)] public string s; public byte b; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Auto)] struct U2 { [MarshalAs(UnmanagedType.ByValTStr,SizeConst=5)] public string s; public byte b; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] struct U3 { public char c; [MarshalAs(UnmanagedType.U1)] public char d;  public byte b; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] class GC1<T> { public char c; public T d;  public byte b; }
[StructLayout(LayoutKind.Sequential,CharSet=CharSet.Unicode)] class GCD : GC1<byte> { public char e;  }

static class SizesAndOffsets
{
    static string Offset(Type type, FieldInfo field)
    {
        try { return " " + field.Name + "@" + Marshal.OffsetOf(type, field.Name); }
        catch (Exception e) { return " " + field.Name + "@" + e.GetType().Name; }
    }
    static void Show(Type type)
    {
        string text = type + ": ";
        try { text += Marshal.SizeOf(type); }
        catch (Exception e) { text += e.GetType().Name + " " + e.Message.Replace('\n', ' '); }
        foreach (FieldInfo field in type.GetFields(BindingFlags.Instance | BindingFlags.Public)) text += Offset(type, field);
        Console.WriteLine(text);
    }
    static void Main()
    {
        foreach (Type type in typeof(SizesAndOffsets).Assembly.GetTypes())
        {
            if (type == typeof(SizesAndOffsets)) continue;
            if (!type.IsGenericTypeDefinition) Show(type);
            else foreach (Type argument in new[] { typeof(int), typeof(long), typeof(byte) }) Show(type.MakeGenericType(argument));
        }
    }
}
