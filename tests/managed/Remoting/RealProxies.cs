using System; using System.Reflection; using System.Runtime.Remoting; using System.Runtime.Remoting.Messaging; using System.Runtime.Remoting.Proxies;
interface IFoo { int Foo(int x, ref string s, out double d); }
struct Big { public long a,b,c; public string s; }
class Server : MarshalByRefObject, IFoo {
  public int field = 5; public string sf = "f"; public Big big;
  public virtual int Foo(int x, ref string s, out double d) { s = s + "!"; d = x / 2.0; return x + 1; }
  public int NonVirtual(int a, long b, double c, string d) { return a + (int)b + (int)c + d.Length + field; }
  public Big MakeBig(Big b) { b.a++; b.s += "x"; return b; }
  public void Thrower() { throw new InvalidOperationException("thrown"); }
  public override string ToString() { return "server " + field; }
  public static int Static() { return 3; }
  public T Gen<T>(T t) { return t; }
  public virtual T GenV<T>(T t) { return t; }
  public event EventHandler Ev; public void Raise() { if (Ev != null) Ev(this, EventArgs.Empty); }
  public byte B() { return 200; } public sbyte SB() { return -3; } public float F(float f) { return f * 2; } public char C() { return 'c'; } public decimal D(decimal d) { return d + 1; } public DateTime DT() { return new DateTime(2000,1,1); } public int? N(int? x) { return x + 1; }
  public long Many(int a1,int a2,int a3,int a4,int a5,int a6,int a7,double d1,double d2,double d3,double d4,double d5,double d6,double d7,double d8,double d9,string s) { return a1+a2+a3+a4+a5+a6+a7+(int)(d1+d2+d3+d4+d5+d6+d7+d8+d9)+s.Length; }
}
class Px : RealProxy, IRemotingTypeInfo {
  MarshalByRefObject o; public int calls;
  public Px(MarshalByRefObject o) : base(o.GetType()) { this.o = o; }
  public override IMessage Invoke(IMessage m) { var c = (IMethodCallMessage)m; calls++; Console.WriteLine("  [" + c.MethodName + " " + c.ArgCount + " " + c.TypeName.Split(',')[0] + "]"); return RemotingServices.ExecuteMessage(o, c); }
  public bool CanCastTo(Type t, object o) { Console.WriteLine("  cast? " + t.Name); return t == typeof(IDisposable); }
  public string TypeName { get { return "X"; } set {} }
}
class IPx : RealProxy { public IPx(Type t) : base(t) {} public override IMessage Invoke(IMessage m) { var c = (IMethodCallMessage)m; object[] outs = new object[]{ 1, "out", 2.5 }; return new ReturnMessage(42, outs, 3, null, c); } }
class P {
  static void Main() {
    var s = new Server(); var px = new Px(s); var p = (Server)px.GetTransparentProxy();
    Console.WriteLine(RemotingServices.IsTransparentProxy(p) + " " + RemotingServices.IsTransparentProxy(s) + " " + (RemotingServices.GetRealProxy(p) == px));
    string q = "q"; double d; Console.WriteLine(p.Foo(3, ref q, out d) + q + d);
    Console.WriteLine(((IFoo)p).Foo(4, ref q, out d) + q + d);
    Console.WriteLine(p.NonVirtual(1, 2, 3.7, "four"));
    Console.WriteLine(p.field + p.sf); p.field = 77; p.sf = "g"; Console.WriteLine(s.field + s.sf);
    var b = p.MakeBig(new Big{a=1,s="y"}); Console.WriteLine(b.a + b.s); p.big = b; Big bb = p.big; Console.WriteLine(bb.s + s.big.a);
    try { p.Thrower(); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
    Console.WriteLine(p.ToString() + p.GetType()); Console.WriteLine(p is IFoo); Console.WriteLine(p is IDisposable); Console.WriteLine(p is ICloneable); Console.WriteLine((object)p as string == null);
    Console.WriteLine(p.Gen(5) + p.Gen("s") + p.GenV(6) + p.GenV("t"));
    Console.WriteLine(p.B() + " " + p.SB() + " " + p.F(1.5f) + " " + p.C() + " " + p.D(2) + " " + p.DT().Year + " " + p.N(3) + " " + (p.N(null) == null));
    Console.WriteLine(p.Many(1,2,3,4,5,6,7,1,2,3,4,5,6,7,8,9,"abc"));
    Func<int,long,double,string,int> f = p.NonVirtual; Console.WriteLine(f(1,1,1,"1"));
    Func<string> ts = p.ToString; Console.WriteLine(ts());
    p.Ev += (x, y) => Console.WriteLine("event"); p.Raise();
    Console.WriteLine(typeof(Server).GetMethod("NonVirtual").Invoke(p, new object[]{1,2L,3.0,"x"}));
    Console.WriteLine(typeof(Server).GetField("field").GetValue(p)); typeof(Server).GetField("field").SetValue(p, 9); Console.WriteLine(s.field);
    Console.WriteLine(p.Equals(p) + " " + (p.GetHashCode() == s.GetHashCode()));
    lock (p) { }
    var i = (IFoo)new IPx(typeof(IFoo)).GetTransparentProxy(); Console.WriteLine(i.Foo(1, ref q, out d) + q + d); Console.WriteLine(i.GetType());
    GC.Collect(); GC.Collect(); Console.WriteLine(p.NonVirtual(1, 2, 3, "4"));
    try { ((Server)null).NonVirtual(1,2,3,"4"); } catch (NullReferenceException) { Console.WriteLine("nre"); }
    try { Console.WriteLine(((Server)null).field); } catch (NullReferenceException) { Console.WriteLine("nre"); }
    Console.WriteLine(px.calls);
  }
}
