using System; using System.Collections.Generic; using System.Reflection; using System.Threading; using System.Collections;
[Serializable] class Val { public int x; public string s; public List<int> l = new List<int>{1,2}; }
class NotSer { }
class Remote : MarshalByRefObject {
  static int count; public int field = 3;
  public string Where() { return AppDomain.CurrentDomain.FriendlyName; }
  public int Count() { return ++count; }
  public Val Echo(Val v) { v.x++; v.s += AppDomain.CurrentDomain.FriendlyName; return v; }
  public ArrayList List(ArrayList a) { a.Add("added"); return a; }
  public void Out(ref int a, out string b) { a++; b = "out"; }
  public void Throw() { throw new ApplicationException("from " + Where()); }
  public NotSer Bad() { return new NotSer(); }
  public Remote Other() { return new Remote(); }
  public string CallBack(Remote r) { return r.Where() + " called from " + Where(); }
  public override object InitializeLifetimeService() { return null; }
  public string Evd(Func<string> f) { return f(); }
  public string[] Strs(string[] a) { a[0] = "changed"; return a; }
}
class P {
  static int st = 1;
  static void CB() { Console.WriteLine("callback in " + AppDomain.CurrentDomain.FriendlyName + " " + (++st)); }
  static int Main(string[] args) {
    if (args.Length > 0) { Console.WriteLine("Main in " + AppDomain.CurrentDomain.FriendlyName + " " + args[0]); return 5; }
    var d = AppDomain.CreateDomain("second");
    Console.WriteLine(d.FriendlyName + " " + d.IsDefaultAppDomain() + " " + AppDomain.CurrentDomain.IsDefaultAppDomain() + " " + d.Id);
    d.DoCallBack(CB); CB();
    var r = (Remote)d.CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, "Remote");
    Console.WriteLine(r.Where() + r.Count() + r.Count() + new Remote().Count());
    var v = r.Echo(new Val{x=1,s="s"}); Console.WriteLine(v.x + v.s + v.l.Count);
    Console.WriteLine(r.List(new ArrayList{1,"x"}).Count);
    int a = 1; string b; r.Out(ref a, out b); Console.WriteLine(a + b);
    try { r.Throw(); } catch (ApplicationException e) { Console.WriteLine(e.Message + " " + (e.StackTrace.IndexOf("Remote.Throw") >= 0)); }
    try { r.Bad(); } catch (Exception e) { Console.WriteLine(e.GetType()); }
    var o = r.Other(); Console.WriteLine(o.Where() + o.field); o.field = 9; Console.WriteLine(o.field);
    Console.WriteLine(r.CallBack(new Remote()));
    Console.WriteLine(r.CallBack(r));
    var sa = new[]{"a","b"}; var sb = r.Strs(sa); Console.WriteLine(sa[0] + sb[0]);
    d.SetData("k", 5); Console.WriteLine(d.GetData("k")); Console.WriteLine(AppDomain.CurrentDomain.GetData("k") == null);
    Console.WriteLine(d.ExecuteAssembly(typeof(P).Assembly.Location, null, new[]{"arg"}));
    foreach (var x in d.GetAssemblies()) Console.WriteLine("  " + x.GetName().Name);
    d.DomainUnload += delegate { Console.WriteLine("unloading " + AppDomain.CurrentDomain.FriendlyName); };
    Console.WriteLine(Thread.GetDomain().FriendlyName);
    AppDomain.Unload(d);
    try { r.Where(); } catch (AppDomainUnloadedException) { Console.WriteLine("unloaded"); }
    try { d.DoCallBack(CB); } catch (AppDomainUnloadedException) { Console.WriteLine("unloaded"); }
    try { AppDomain.Unload(AppDomain.CurrentDomain); } catch (CannotUnloadAppDomainException e) { Console.WriteLine(e.Message); }
    return 0;
  }
}
