// Conversions that a plan leaves to helpers: custom marshalers in every direction, AsAny, DateTime as an OLE date, HandleRef and `fixed` buffers in
// structs, arrays by reference, bools of one byte. Mono prints the same but where it aborts ("val", "missing", "cf"), refuses dates as
// results, keeps a bool of 5, and does not see what the callee wrote to an array of strings.
// cc: -Wno-unused-result
using System; using System.Runtime.InteropServices; using System.Text;
class M : ICustomMarshaler {
  string cookie; static int made;
  M(string c){cookie=c;}
  public static ICustomMarshaler GetInstance(string c){ Console.WriteLine("GetInstance(" + (c==null?"null":"'"+c+"'") + ") " + ++made); return new M(c); }
  public void CleanUpManagedData(object o){ Console.WriteLine("CleanUpManaged " + o); }
  public void CleanUpNativeData(IntPtr p){ Console.WriteLine("CleanUpNative " + (p==IntPtr.Zero?"0":Marshal.ReadInt32(p).ToString())); }
  public int GetNativeDataSize(){ Console.WriteLine("size"); return -1; }
  public IntPtr MarshalManagedToNative(object o){ Console.WriteLine("ToNative " + (o??"null")); if ((o as string)=="throw") throw new Exception("mine"); var p = Marshal.AllocHGlobal(8); Marshal.WriteInt32(p, int.Parse(o.ToString())); return p; }
  public object MarshalNativeToManaged(IntPtr p){ Console.WriteLine("ToManaged " + (p==IntPtr.Zero?"0":Marshal.ReadInt32(p).ToString())); return "m" + Marshal.ReadInt32(p); }
}
class NotM {}
abstract class Other : ICustomMarshaler { public void CleanUpManagedData(object o) {} public void CleanUpNativeData(IntPtr p) {} public int GetNativeDataSize() { return 0; } public IntPtr MarshalManagedToNative(object o) { return IntPtr.Zero; } public object MarshalNativeToManaged(IntPtr p) { return null; } }
class OfObjects : Other { public static object GetInstance(string c) { return null; } }
class GivesNull : Other { public static ICustomMarshaler GetInstance(string c) { return null; } }
class Throws : Other { public static ICustomMarshaler GetInstance(string c) { throw new Exception("GI"); } }
[StructLayout(LayoutKind.Sequential)] struct DS { public int a; public DateTime d; }
[StructLayout(LayoutKind.Sequential)] struct CF { public int a; [MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M))] public string s; }
[StructLayout(LayoutKind.Sequential)] struct HR { public int a; public HandleRef h; }
[StructLayout(LayoutKind.Sequential)] struct B1 { public int a; [MarshalAs(UnmanagedType.I1)] public bool b; }
unsafe struct FB { public fixed char c[8]; public char d; }
[StructLayout(LayoutKind.Sequential)] class Cls { public int a, b; }
class Auto { public int a; }
class P {
  const string L = "CustomMarshalers";
  [DllImport(L)] static extern int cm_in([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] object o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_in2([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] string o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_in3([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M))] string o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_inout([In,Out,MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] string o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_outv([Out,MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] string o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_val([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] int o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_bad([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(NotM), MarshalCookie="c1")] string o);
  [DllImport(L, EntryPoint="cm_in")] static extern int cm_missing([MarshalAs(UnmanagedType.CustomMarshaler, MarshalType="Not.There", MarshalCookie="c1")] string o);
  [DllImport(L)] static extern void cm_out([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] out string o);
  [DllImport(L)] static extern void cm_ref([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="c1")] ref string o);
  [DllImport(L)] [return:MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="r")] static extern string cm_echo(IntPtr p);
  [return:MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="dr")] delegate string D([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="d")] string s);
  delegate void DR([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="d")] ref string s);
  delegate void DO([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="d")] out string s);
  [DllImport(L)] static extern int cm_call(D d, int v);
  [DllImport(L)] static extern int cm_callref(DR d, int v);
  [DllImport(L)] static extern int cm_callref(DO d, int v);
  [DllImport(L)] static extern double date(DateTime d, out DateTime e);
  [DllImport(L, EntryPoint="date")] static extern DateTime date2(double d, out double e);
  [DllImport(L)] static extern double dates(ref DS s);
  [DllImport(L)] static extern int[] arr();
  [DllImport(L)] static extern int any([MarshalAs(UnmanagedType.AsAny)] object o, int what);
  [DllImport(L, CharSet=CharSet.Unicode, EntryPoint="any")] static extern int anyw([MarshalAs(UnmanagedType.AsAny)] object o, int what);
  [DllImport(L)] static extern void refarr(ref int[] a);
  [DllImport(L, EntryPoint="refarr")] static extern void refarr2([MarshalAs(UnmanagedType.LPArray, SizeConst=3)] ref int[] a);
  [DllImport(L)] static extern void refstrs(ref string[] a);
  [DllImport(L, EntryPoint="refstrs")] static extern void refstrs2([MarshalAs(UnmanagedType.LPArray, SizeConst=2)] ref string[] a);
  [DllImport(L)] static extern int any(ref CF o, int what);
  [DllImport(L, EntryPoint="any")] static extern int anyobj(object o, int what);
  [DllImport(L, EntryPoint="any")] static extern int handle(ref HandleRef h, int n);
  [DllImport(L, EntryPoint="any")] static extern HandleRef handle(int h, int n);
  [DllImport(L, EntryPoint="any")] static extern int other([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(OfObjects))] string o, int n);
  [DllImport(L, EntryPoint="any")] static extern int other([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(GivesNull))] object o, int n);
  [DllImport(L, EntryPoint="any")] static extern int other([MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(Throws))] StringBuilder o, int n);
  [DllImport(L, EntryPoint="cm_out")] static extern void made(out int[] h);
  [DllImport(L, EntryPoint="cm_echo")] [return:MarshalAs(UnmanagedType.CustomMarshaler, MarshalTypeRef=typeof(M), MarshalCookie="r")] static extern Exception wrong_type(IntPtr p);
  [DllImport(L)] static extern int letters(ref FB f);
  static void T(string n, Action a){ Console.WriteLine("-- " + n); try { a(); } catch (Exception e) { var x = e; Console.WriteLine(x.GetType() + ": " + x.Message); if (x.InnerException!=null) Console.WriteLine(" inner " + x.InnerException.GetType() + x.InnerException.Message); } }
  static unsafe void Main(){
    T("in", () => Console.WriteLine(cm_in("5")));
    T("in again", () => Console.WriteLine(cm_in("6")));
    T("in2", () => Console.WriteLine(cm_in2("7")));
    T("in no cookie", () => Console.WriteLine(cm_in3("7")));
    T("in null", () => Console.WriteLine(cm_in2(null)));
    T("in throw", () => Console.WriteLine(cm_in2("throw")));
    T("inout", () => Console.WriteLine(cm_inout("8")));
    T("outv", () => Console.WriteLine(cm_outv("8")));
    T("val", () => Console.WriteLine(cm_val(8)));
    T("bad", () => Console.WriteLine(cm_bad("8")));
    T("missing", () => Console.WriteLine(cm_missing("8")));
    T("out", () => { string s; cm_out(out s); Console.WriteLine(s); });
    T("ref", () => { string s = "3"; cm_ref(ref s); Console.WriteLine(s); });
    T("ref null", () => { string s = null; cm_ref(ref s); Console.WriteLine(s); });
    T("ret", () => { var p = Marshal.AllocHGlobal(8); Marshal.WriteInt32(p, 12); Console.WriteLine(cm_echo(p)); });
    T("ret null", () => Console.WriteLine(cm_echo(IntPtr.Zero) ?? "null"));
    T("call", () => Console.WriteLine(cm_call(s => { Console.WriteLine("in delegate " + (s ?? "null")); return "44"; }, 4)));
    T("call null", () => Console.WriteLine(cm_call(s => { Console.WriteLine("in delegate " + (s ?? "null")); return null; }, -4)));
    T("callref", () => Console.WriteLine(cm_callref((ref string s) => { Console.WriteLine("in delegate " + (s ?? "null")); s = "45"; }, 4)));
    T("callref null", () => Console.WriteLine(cm_callref((ref string s) => { Console.WriteLine("in delegate " + (s ?? "null")); s = null; }, -4)));
    T("callout", () => Console.WriteLine(cm_callref((out string s) => { s = "46"; }, 4)));
    T("date", () => { DateTime e; Console.WriteLine(date(new DateTime(2009,12,6), out e)); Console.WriteLine(e.ToString("s") + e.Kind); });
    T("date2", () => { double e; Console.WriteLine(date2(40153.25, out e).ToString("s")); });
    T("dates", () => { var s = new DS{d=new DateTime(2000,1,1)}; Console.WriteLine(dates(ref s)); Console.WriteLine(s.d.ToString("s")); });
    T("size DS", () => Console.WriteLine(Marshal.SizeOf(typeof(DS))));
    T("size DateTime", () => Console.WriteLine(Marshal.SizeOf(typeof(DateTime))));
    T("size CF", () => Console.WriteLine(Marshal.SizeOf(typeof(CF))));
    T("size HR", () => Console.WriteLine(Marshal.SizeOf(typeof(HR))));
    T("size HandleRef", () => Console.WriteLine(Marshal.SizeOf(typeof(HandleRef))));
    T("size FB", () => Console.WriteLine(Marshal.SizeOf(typeof(FB))));
    T("B1", () => { var p = Marshal.AllocHGlobal(16); Marshal.WriteInt64(p, unchecked((long)0x0505050505050505)); var b = (B1)Marshal.PtrToStructure(p, typeof(B1)); unsafe { bool x = b.b; Console.WriteLine(*(byte*)&x); } });
    T("any null", () => Console.WriteLine(any((object)null, 0)));
    T("any int", () => Console.WriteLine(any((object)5, 1)));
    T("any string", () => Console.WriteLine(any((object)"abcé", 2)));
    T("anyw string", () => Console.WriteLine(anyw("abc", 3)));
    T("any int[]", () => Console.WriteLine(any((object)new int[]{5,6}, 4)));
    T("any int[] out", () => { var a = new int[]{5,6}; any((object)a, 5); Console.WriteLine(a[1]); });
    T("any char[]", () => Console.WriteLine(any((object)new char[]{'a','b'}, 3)));
    T("any bool[]", () => Console.WriteLine(any((object)new bool[]{true,true}, 1)));
    T("any Cls", () => Console.WriteLine(any((object)new Cls{b=7}, 4)));
    T("any Cls out", () => { var a = new Cls(); any((object)a, 5); Console.WriteLine(a.b); });
    T("any Auto", () => Console.WriteLine(any((object)new Auto(), 4)));
    T("any bool", () => Console.WriteLine(any((object)true, 1)));
    T("any date", () => Console.WriteLine(any((object)DateTime.Now, 0)));
    T("any guid", () => Console.WriteLine(any((object)Guid.Empty, 4)));
    T("refarr", () => { var a = new int[]{1,2,3}; refarr(ref a); Console.WriteLine(string.Join(",", a)); });
    T("refarr2", () => { var a = new int[]{1,2,3}; refarr2(ref a); Console.WriteLine(string.Join(",", a)); });
    T("refstrs", () => { var a = new string[]{"x","y","z"}; refstrs(ref a); Console.WriteLine(string.Join(",", a)); });
    T("refstrs2", () => { var a = new string[]{"x","y","z"}; refstrs2(ref a); Console.WriteLine(string.Join(",", a)); });
    T("handle by reference", () => { var r = new HandleRef(); handle(ref r, 0); });
    T("handle returned", () => handle(0, 0));
    T("marshaler of objects", () => other("x", 0));
    T("marshaler null", () => other((object)"x", 0));
    T("marshaler throws", () => other(new StringBuilder("x"), 0));
    T("marshaler throws again", () => other(new StringBuilder("x"), 0));
    T("out without a length", () => { int[] x; made(out x); Console.WriteLine(x == null ? "null" : x.Length + ""); });
    T("buffer", () => { var f = new FB(); for (int i = 0; i < 8; i++) f.c[i] = (char)('A' + i); f.d = 'X'; Console.WriteLine(letters(ref f)); for (int i = 0; i < 8; i++) Console.Write((int)f.c[i] + " "); Console.WriteLine((int)f.d); });
    T("marshaler of another type", () => Console.WriteLine(wrong_type(IntPtr.Zero) == null));
    T("marshaler of another type", () => { var p = Marshal.AllocHGlobal(8); Marshal.WriteInt32(p, 12); Console.WriteLine(wrong_type(p)); });
    T("cf", () => { var c = new CF{s="abc"}; Console.WriteLine(any(ref c, 0)); });
  }
}
