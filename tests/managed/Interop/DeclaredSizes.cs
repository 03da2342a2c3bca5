// mcs: -nowarn:649,169
// Declared sizes of structs and classes with a native form: they stand only if the offsets are explicit, the fields fit and nothing is said of packing.
using System; using System.Runtime.InteropServices;
[StructLayout(LayoutKind.Sequential,Size=10)] struct A { public int x; }
[StructLayout(LayoutKind.Sequential,Size=3)] struct B { public int x; public byte y; }
[StructLayout(LayoutKind.Sequential,Size=10,Pack=2)] struct C { public int x; }
[StructLayout(LayoutKind.Sequential,Size=11,Pack=4)] struct D { public long x; }
[StructLayout(LayoutKind.Explicit,Size=3)] struct E { [FieldOffset(0)] public int x; [FieldOffset(6)] public short s; [FieldOffset(9)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=10,Pack=4)] struct F { [FieldOffset(0)] public int x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=8)] struct G { [FieldOffset(0)] public int x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=5,Pack=2)] struct H { [FieldOffset(0)] public int x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=21,Pack=8)] struct I { [FieldOffset(0)] public long x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=21)] struct J { [FieldOffset(0)] public long x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=21,Pack=1)] struct K { [FieldOffset(0)] public long x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit)] struct L { [FieldOffset(0)] public long x; [FieldOffset(8)] public byte y; }
[StructLayout(LayoutKind.Explicit,Size=21,Pack=8)] class M { [FieldOffset(0)] public long x; [FieldOffset(8)] public byte y; }
struct N { public byte a; public F f; public byte b; }
[StructLayout(LayoutKind.Explicit,Size=9)] struct O { [FieldOffset(0)] public long x; [FieldOffset(8)] public byte y; }
class P { static void S(Type t){ try { Console.Write("{0} {1}; ",t.Name,Marshal.SizeOf(t)); } catch(Exception e){ Console.Write("{0} {1}; ",t.Name,e.GetType().Name); } }
 static void Main()
 {
  foreach (var t in new[] { typeof(A), typeof(B), typeof(C), typeof(D), typeof(E), typeof(F), typeof(G), typeof(H), typeof(I), typeof(J), typeof(K), typeof(L), typeof(M), typeof(N), typeof(O) }) S(t);
  Console.WriteLine(Marshal.OffsetOf(typeof(N), "b")); // expect: A 12; B 8; C 10; D 12; E 12; F 12; G 12; H 10; I 24; J 21; K 21; L 16; M 24; N 20; O 9; 16
 }
}
