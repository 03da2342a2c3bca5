// env: VERVET_HOT_CALLS=2 VERVET_BACKGROUND_COMPILER=0
// Loops are left for other code with structs whose fields cross words, overlap, or lie apart.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Pack = 1)] struct P { public int a; public short b; public int c; public short d; public int Sum() { return a + b + c + d; } }
[StructLayout(LayoutKind.Explicit)] struct U { [FieldOffset(0)] public byte b; [FieldOffset(0)] public long l; [FieldOffset(6)] public int i; [FieldOffset(12)] public short s; }
[StructLayout(LayoutKind.Explicit)] struct U2 { [FieldOffset(4)] public long l; [FieldOffset(12)] public short s; }
struct Floats { public float a, b; public double c; public byte d; public float e; }

static class LoopsOfMixedStructs
{
  static long Packed(int n){ P p=new P(); p.c=0x12345678; p.a=1; long x=0; for(int i=0;i<n;i++){ x+=p.c; p.d++; } return x*31+p.c+p.Sum(); }
  static long PackedArg(P p,int n){ long x=0; while(n-->0){ x+=p.c; p.d++; p.c+=0x10001; } return x*31+p.c; }
  static long Un(int n){ U u=new U(); u.l=0x123456789abcdef; u.i=0x55667788; u.s=77; long x=0; for(int i=0;i<n;i++){ x+=u.i+u.b+u.l; u.b++; } return x+u.l+u.s+u.i; }
  static long Un2(int n){ U2 u=new U2(); u.l=0x123456789abcdef; u.s=77; long x=0; for(int i=0;i<n;i++){ x+=u.l; u.s++; } return x+u.l+u.s; }
    static Floats Mix(int n) { Floats f = new Floats { a = 1, b = 2, c = 3, d = 4, e = 5 }; for (int i = 0; i < n; i++) { f.a += f.e; f.b -= i; f.c = f.c / 2 + f.a; f.d++; f.e += 0.5f; } return f; }

    static void Main()
    {
        Console.WriteLine("packed {0} {1}", Packed(50), PackedArg(new P { c = 0x12345678, a = 3, d = 9 }, 50));
        Console.WriteLine("explicit {0} {1}", Un(50), Un2(50));
        Floats f = Mix(50);
        Console.WriteLine("floats {0} {1} {2:F6} {3} {4}", f.a, f.b, f.c, f.d, f.e);
    }
}
