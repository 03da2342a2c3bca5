// mcs: -unsafe
// env: VERVET_HOT_CALLS=2 VERVET_BACKGROUND_COMPILER=0
// A loop is not left for other code while a pointer to the frame may exist, however it was made; what lies between the fields of a struct stays.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Size=32)] struct Z { public int a; }
unsafe struct Fx { public fixed byte buf[20]; public int tail; }
unsafe struct PS { public int* p; public int n; }
struct IP { public IntPtr p; public int n; }

unsafe static class LoopsWithPointers
{
  static int* P; static IntPtr Q; static object O;
  [MethodImpl(MethodImplOptions.NoInlining)] static void Set(ref int r){ fixed(int* p=&r) P=p; }
  [MethodImpl(MethodImplOptions.NoInlining)] static int* Get(ref int r){ fixed(int* p=&r) return p; }
  [MethodImpl(MethodImplOptions.NoInlining)] static ref int Id(ref int r){ return ref r; }
  [MethodImpl(MethodImplOptions.NoInlining)] static void Bump(){ (*P)++; }
  static long StaticEscape(int n){ int x=5; Set(ref x); long s=0; for(int i=0;i<n;i++){ *P+=1; s+=x; } return s*1000+x; }
  static long StaticEscape2(int n){ int x=5; Set(ref x); long s=0; for(int i=0;i<n;i++){ Bump(); s+=x; } return s*1000+x; }
  static long ArgStruct(PS s,int n){ int x=5; s.p=Get(ref x); long r=0; for(int i=0;i<n;i++){ *s.p+=1; r+=x; } return r*1000+x; }
  static long ArgStructDirect(PS s,int n){ int x=5; s.p=&x; long r=0; for(int i=0;i<n;i++){ *s.p+=1; r+=x; } return r*1000+x; }
  static long LocStruct(int n){ PS s=new PS(); int x=5; s.p=Get(ref x); long r=0; for(int i=0;i<n;i++){ *s.p+=1; r+=x; } return r*1000+x; }
  static long LocIP(int n){ IP s=new IP(); int x=5; s.p=(IntPtr)Get(ref x); long r=0; for(int i=0;i<n;i++){ *(int*)s.p+=1; r+=x; } return r*1000+x; }
  static long LocLong(int n){ int x=5; long s=(long)Get(ref x); long r=0; for(int i=0;i<n;i++){ *(int*)s+=1; r+=x; } return r*1000+x; }
  static long LocULongDirect(int n){ int x=5; ulong s=(ulong)&x; long r=0; for(int i=0;i<n;i++){ *(int*)s+=1; r+=x; } return r*1000+x; }
  static long LocNullable(int n){ int x=5; IntPtr? s=(IntPtr)Get(ref x); long r=0; for(int i=0;i<n;i++){ *(int*)s.Value+=1; r+=x; } return r*1000+x; }
  static long Boxed(int n){ int x=5; object s=(IntPtr)Get(ref x); long r=0; for(int i=0;i<n;i++){ *(int*)(IntPtr)s+=1; r+=x; } return r*1000+x; }
  static long Arr(int n){ int x=5; int*[] s=new int*[]{Get(ref x)}; long r=0; for(int i=0;i<n;i++){ *s[0]+=1; r+=x; } return r*1000+x; }
  static long ArrDirect(int n){ int x=5; IntPtr[] s=new IntPtr[]{(IntPtr)(&x)}; long r=0; for(int i=0;i<n;i++){ *(int*)s[0]+=1; r+=x; } return r*1000+x; }
  static long TRef(int n){ int x=5; TypedReference t=__makeref(x); long r=0; for(int i=0;i<n;i++){ __refvalue(t,int)+=1; r+=x; } return r*1000+x; }
  static long TArg(TypedReference t,int n){ int x=5; t=__makeref(x); long r=0; for(int i=0;i<n;i++){ __refvalue(t,int)+=1; r+=x; } return r*1000+x; }
  static long RefLoc(int n){ int x=5; ref int t=ref Id(ref x); long r=0; for(int i=0;i<n;i++){ t+=1; r+=x; } return r*1000+x; }
  static unsafe long Fixed(int n){ Fx f=new Fx(); for(int i=0;i<20;i++) f.buf[i]=(byte)(i+1); long x=0; for(int i=0;i<n;i++){ x+=f.buf[i%20]; f.buf[i%20]++; f.tail++; } for(int i=0;i<20;i++) x=x*3+f.buf[i]; return x+f.tail; }
  static unsafe void Fill(ref Z z){ fixed(Z* p=&z){ byte* q=(byte*)p; for(int i=0;i<32;i++) q[i]=(byte)(i*7+1);} }
  static unsafe long SumZ(ref Z z){ fixed(Z* p=&z){ byte* q=(byte*)p; long s=0; for(int i=0;i<32;i++) s=s*3+q[i]; return s;} }
  static long Sized(int n){ Z z=new Z(); Fill(ref z); long x=0; for(int i=0;i<n;i++){ x+=i; z.a++; } return x+SumZ(ref z); }
  static unsafe void FillF(ref Fx z){ for(int i=0;i<20;i++) buf2(ref z,i); }
  static unsafe void buf2(ref Fx f,int i){ fixed(byte* q=f.buf) q[i]=(byte)(i*3+1);} 
  static unsafe long SumF(ref Fx f){ long s=0; fixed(byte* q=f.buf) for(int i=0;i<20;i++) s=s*3+q[i]; return s+f.tail; }
  static long Fixed2(int n){ Fx f=new Fx(); FillF(ref f); long x=0; for(int i=0;i<n;i++){ x+=i; f.tail++; } return x+SumF(ref f); }
    static unsafe long Unmanaged(int n)
    {
        long value = 0;
        long* at = &value;
        int* own = stackalloc int[4];
        for (int i = 0; i < n; i++) { *at += i; own[i & 3]++; }
        return value + own[2];
    }

    static int Pinned(int n)
    {
        byte[] bytes = new byte[100];
        unsafe
        {
            fixed (byte* at = bytes)
            {
                for (int i = 0; i < n; i++) { at[i % 100]++; if (i % 10000 == 0) GC.Collect(); }
            }
        }
        int sum = 0;
        foreach (byte b in bytes) sum += b;
        return sum;
    }
  static void Main(){ int d=0; PS ps=new PS(); int y=1;
   Console.WriteLine("StaticEscape "+StaticEscape(20)); Console.WriteLine("StaticEscape2 "+StaticEscape2(20));
   Console.WriteLine("ArgStruct "+ArgStruct(ps,20)); Console.WriteLine("ArgStructDirect "+ArgStructDirect(ps,20)); Console.WriteLine("LocStruct "+LocStruct(20));Console.WriteLine("LocIP "+LocIP(20));
   Console.WriteLine("LocLong "+LocLong(20)); Console.WriteLine("LocULongDirect "+LocULongDirect(20)); Console.WriteLine("LocNullable "+LocNullable(20)); Console.WriteLine("Boxed "+Boxed(20)); Console.WriteLine("Arr "+Arr(20)); Console.WriteLine("ArrDirect "+ArrDirect(20));
   Console.WriteLine("TRef "+TRef(20)); Console.WriteLine("TArg "+TArg(__makeref(d),20)); Console.WriteLine("RefLoc "+RefLoc(20));
    Console.WriteLine("Fixed "+Fixed(50)); Console.WriteLine("Sized "+Sized(50)); Console.WriteLine("Fixed2 "+Fixed2(50));
    Console.WriteLine("Unmanaged " + Unmanaged(5000) + " " + Pinned(30000));
  }
}
