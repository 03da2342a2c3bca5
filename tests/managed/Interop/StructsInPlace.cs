// `fixed` buffers whose elements are smaller in native memory: what they take and what the conversion fills. Characters of an array in place are UTF-8. A date is
// converted on its own only. Mono prints the same.
// mcs: -unsafe
using System; using System.Linq; using System.Runtime.InteropServices;
unsafe struct FB { public fixed char c[8]; public char d; }
unsafe struct FC { public byte b; public fixed char c[3]; public int q; }
unsafe struct FD { public byte b; public fixed char c[3]; public byte q; }
unsafe struct FE { public fixed char c[4]; public fixed char d[4]; public byte e; }
unsafe struct FF { public fixed bool c[3]; public fixed bool d[3]; public short e; }
unsafe struct FG { public FB x; public byte y; }
[StructLayout(LayoutKind.Sequential, Pack=1)] unsafe struct FH { public byte b; public fixed char c[3]; public byte q; }
struct C1 { [MarshalAs(UnmanagedType.ByValArray, SizeConst=5)] public char[] c; public byte z; }
struct D1 { public DateTime d; public int x; } struct D5 { public DateTimeOffset t; } [StructLayout(LayoutKind.Auto)] struct A1 { public int a; public byte b; } struct A2 { public A1 a; public int c; } struct C4 { public char[] c; }
class P {
 unsafe static void D<T>(T v) where T : struct {
   int n=Marshal.SizeOf(typeof(T)); Console.Write(typeof(T).Name+" "+n); foreach (var f in typeof(T).GetFields()) Console.Write(" "+f.Name+"@"+Marshal.OffsetOf(typeof(T),f.Name));
   var p=Marshal.AllocHGlobal(100); for (int i=0;i<100;i++) Marshal.WriteByte(p,i,0xcc); Marshal.StructureToPtr(v,p,false); var b=new byte[n]; Marshal.Copy(p,b,0,n); Console.WriteLine(" "+BitConverter.ToString(b));
 }
 static void Chars(string text, byte[] from) {
   var p=Marshal.AllocHGlobal(100); for (int i=0;i<100;i++) Marshal.WriteByte(p,i,0xcc);
   try { Marshal.StructureToPtr(new C1{c=text==null?null:text.ToCharArray(),z=7},p,false); var b=new byte[6]; Marshal.Copy(p,b,0,6); Console.WriteLine(Marshal.SizeOf(typeof(C1))+" "+BitConverter.ToString(b)); } catch (ArgumentException e) { Console.WriteLine(e.Message); }
   Marshal.Copy(from,0,p,from.Length); var o=(C1)Marshal.PtrToStructure(p,typeof(C1)); Console.WriteLine("  "+string.Join(" ",o.c.Select(c=>((int)c).ToString("x")))+" "+o.z); }
 static void Refused<T>(T v) where T : struct {
   Console.WriteLine(Marshal.SizeOf(typeof(T))); var p=Marshal.AllocHGlobal(100);
   try { Marshal.StructureToPtr(v,p,false); Console.WriteLine("converted"); } catch (MarshalDirectiveException e) { Console.WriteLine(e.Message); }
   try { Marshal.PtrToStructure(p,typeof(T)); Console.WriteLine("converted"); } catch (MarshalDirectiveException x) { Console.WriteLine(x.Message); } }
 unsafe static void Main() { var b=new FB(); b.c[0]='x'; b.c[7]='z'; b.d='d'; D(b); var c=new FC(); c.b=1; c.c[0]='a'; c.c[2]='c'; c.q=77; D(c); var d=new FD(); d.b=1; d.c[0]='a'; d.c[2]='c'; d.q=77; D(d); var e=new FE(); e.c[0]='1'; e.c[3]='2'; e.d[0]='3'; e.d[3]='4'; e.e=9; D(e); var f=new FF(); f.c[0]=true; f.d[2]=true; f.e=0x1234; D(f); var g=new FG(); g.x=b; g.y=5; D(g); var hh=new FH(); hh.b=1; hh.c[2]='q'; hh.q=4; D(hh);
  Func<string,byte[]> utf8=System.Text.Encoding.UTF8.GetBytes;
  Chars("abc",utf8("abcdefghij")); Chars("abcdefg",utf8("\0\0\0\0\0\0\0\0")); Chars("a\u20acb\u00e4z",utf8("a\u20acbcdefghijkl")); Chars("abcd\u00e4",utf8("ab\0cdefgh")); Chars("a\0b",utf8("abc\u20acdef")); Chars("\ud83d",utf8("abcdefgh")); Chars("",utf8("xyz\0\0\0\0")); Chars(null,utf8("xyz\0\0\0\0"));
  Refused(new D1()); Refused(new D5()); Refused(new A2()); try { Marshal.PtrToStructure(Marshal.AllocHGlobal(8),typeof(C4)); } catch (MarshalDirectiveException x) { Console.WriteLine(x.Message); } }
}
