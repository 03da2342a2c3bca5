// Inlined methods of a MarshalByRefObject that reach a transparent proxy, behind a join or by a field: the proxy is asked once, and what follows from its answer is thrown.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.Remoting.Proxies;
using System.Runtime.Remoting.Messaging;
public class G { public static C other; public static bool flag; }
public class C : MarshalByRefObject {
  public int v; public C far;
  public int Get() { return v; }
  public int Pick() { return (G.flag ? G.other : this).Get(); }
  public int Test() { if (Pick() < 0) throw new Exception("neg"); return 1; }
  public int Far() { return far.v; }
  public int Test3() { if (Far() < 0) throw new Exception("neg"); return 1; }
}
class P : RealProxy {
  public int n; public int[] rets;
  public P(Type ty) : base(ty) { }
  public override IMessage Invoke(IMessage m) { var mc = (IMethodCallMessage)m; int r = rets[n++ % rets.Length];
    if (mc.MethodName == "FieldGetter") return new ReturnMessage(null, new object[] { null, null, r }, 3, mc.LogicalCallContext, mc);
    return new ReturnMessage(r, null, 0, mc.LogicalCallContext, mc); }
}
class Outer : C { public int Run() { return Test(); } public int Run3() { return Test3(); } }
static class ProxiesInInlined {
  static void Main() {
    var p = new P(typeof(C)); G.other = (C)p.GetTransparentProxy(); 
    foreach (var rets in new[] { new[] { -1 }, new[] { -1, 5 }, new[] { 5 } }) for (int k = 0; k < 2; k++) {
      G.flag = true; p.rets = rets; p.n = 0; 
      var o = new Outer { v = 3, far = G.other }; string r;
      try { r = "" + (k == 0 ? o.Run() : o.Run3()); } catch (Exception e) { r = e.Message; }
      Console.WriteLine("{0} {1} {2}", k, r, p.n);
    }
  }
}
