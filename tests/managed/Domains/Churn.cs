// Domains that are made, called, thrown across, aborted in and unloaded by several threads while collections, finalizers, timers and the pool run.
using System; using System.Threading; using System.Collections.Generic;
[Serializable] class V { public int[] a = new int[100]; public string s = "v"; }
class R : MarshalByRefObject {
  static List<object> keep = new List<object>(); [ThreadStatic] static object ts;
  public int Work(int n) { for (int i = 0; i < n; i++) { keep.Add(new byte[100]); if (keep.Count > 200) keep.Clear(); ts = new object(); } return keep.Count; }
  public V Echo(V v) { v.s += "x"; return v; }
  public void Throw() { throw new ApplicationException("x"); }
  public R Make() { return new R(); }
  public void Spin() { ThreadPool.QueueUserWorkItem(_ => Work(50)); new Timer(_ => Work(5), null, 0, 1); new Thread(() => { try { while (true) { Thread.Sleep(1); Work(1); } } finally { ts = null; } }) { IsBackground = true }.Start(); }
  class F { ~F() { new object().ToString(); } } public void Fin() { for (int i = 0; i < 50; i++) new F(); }
  public int Loop(R back) { int n = 0; while (true) { n += back.Work(1); } }
}
class P { static int cycles, errors;
  static void Main(string[] args) { var ts = new List<Thread>();
    for (int t = 0; t < 2; t++) { int me = t; var th = new Thread(() => { for (int round = 0; round < 6; round++) { try {
       var d = AppDomain.CreateDomain("d" + me); var r = (R)d.CreateInstanceAndUnwrap(typeof(R).Assembly.FullName, "R");
       r.Work(100); r.Echo(new V()); try { r.Throw(); } catch (ApplicationException) {} r.Make().Work(10); r.Spin(); r.Fin();
       Thread caller = null; if (me % 2 == 0) { caller = new Thread(() => { try { r.Loop(new R()); } catch (AppDomainUnloadedException) {} catch (Exception e) { Interlocked.Increment(ref errors); Console.WriteLine("caller " + e.GetType() + e.Message); } }); caller.Start(); Thread.Sleep(5); }
       AppDomain.Unload(d); if (caller != null) caller.Join(); try { r.Work(1); Console.WriteLine("not unloaded"); errors++; } catch (AppDomainUnloadedException) {}
       Interlocked.Increment(ref cycles); } catch (Exception e) { Interlocked.Increment(ref errors); Console.WriteLine(e.GetType() + " " + e.Message); } } }); th.Start(); ts.Add(th); }
    while (ts.Exists(th => th.IsAlive)) { GC.Collect(); Thread.Sleep(20); } foreach (var th in ts) th.Join();
    Console.WriteLine(errors + " errors"); Console.WriteLine(cycles + " cycles"); } }
