// The call context and the principal of a thread travel into another domain with whatever the call carries, and the context comes back.
using System; using System.Runtime.Remoting.Messaging; using System.Runtime.Serialization; using System.Security.Principal; using System.Threading; using System.Collections;
static class Where { public static string Name { get { return AppDomain.CurrentDomain.IsDefaultAppDomain () ? "main" : "kid"; } } }
[Serializable] public class Ctx : ILogicalThreadAffinative { public string S; public override string ToString(){ return "Ctx "+S; } }
[Serializable] public class Noted : ISerializable { string way=""; public Noted(){} protected Noted(SerializationInfo i, StreamingContext c){ way=i.GetString("w")+"<"+Where.Name+c.State; } public void GetObjectData(SerializationInfo i, StreamingContext c){ i.AddValue("w",way+">"+Where.Name+c.State);} public override string ToString(){return way;} }
public class T : MarshalByRefObject {
  static string Show(string k){ var v=CallContext.GetData(k)??CallContext.LogicalGetData(k); return v==null?"-":v.ToString(); }
  public string Read(){ return Show("a")+"|"+Show("b")+"|"+(Thread.CurrentPrincipal==null?"-":Thread.CurrentPrincipal.Identity.Name); }
  public void Write(string s){ CallContext.SetData("a", new Ctx{S=s}); CallContext.LogicalSetData("b", "L"+s); }
  public void Nothing(){}
  public int Add(int a,int b){ return a+b; }
  public DateTimeKind Kind(DateTime d){ return d.Kind; }
  public DateTime Dt(DateTime d){ return d; }
  public Noted Pass(Noted n){ return n; }
  public string Nine(int a,int b,int c,int d,int e,int f,int g,DateTime h,string i,Noted j){ return a+b+c+d+e+f+g+" "+h.Kind+" "+i+" "+j; }
  public void Free(){ CallContext.FreeNamedDataSlot("a"); CallContext.FreeNamedDataSlot("b"); }
  public int Throw(){ CallContext.LogicalSetData("b","thrown"); throw new InvalidOperationException("x"); }
}
class P { 
 static string Show(string k){ var v=CallContext.GetData(k)??CallContext.LogicalGetData(k); return v==null?"-":v.ToString(); }
 static void Main(){
  var d=AppDomain.CreateDomain("kid"); var t=(T)d.CreateInstanceAndUnwrap(typeof(T).Assembly.FullName,"T");
  Console.WriteLine("0 "+t.Read());
  t.Write("there"); Console.WriteLine("1 {0} {1}", Show("a"), Show("b"));
  Console.WriteLine("2 "+t.Read());
  CallContext.SetData("a", new Ctx{S="here"}); CallContext.LogicalSetData("b","Lhere");
  Console.WriteLine("3 "+t.Read());
  Console.WriteLine("4 {0} {1} {2}", t.Add(1,2), t.Kind(DateTime.UtcNow), t.Dt(new DateTime(5,DateTimeKind.Local)).Kind);
  Console.WriteLine("5 "+t.Pass(new Noted()));
  Console.WriteLine("6 "+t.Nine(1,2,3,4,5,6,7,new DateTime(7,DateTimeKind.Utc),"s",new Noted()));
  t.Write("again"); Console.WriteLine("7 {0} {1}", Show("a"), Show("b"));
  try { t.Throw(); } catch(Exception e){ Console.WriteLine("8 {0} {1} {2}", e.GetType(), Show("a"), Show("b")); }
  t.Free(); Console.WriteLine("9 {0} {1}", Show("a"), Show("b"));
  Console.WriteLine("10 "+t.Read());
  CallContext.SetData("a", new object()); CallContext.SetData("n", "not affine");
  Console.WriteLine("11 "+t.Read());
  CallContext.FreeNamedDataSlot("a"); CallContext.FreeNamedDataSlot("b");CallContext.FreeNamedDataSlot("n");
  Console.WriteLine("12 "+t.Read());
  Thread.CurrentPrincipal=new GenericPrincipal(new GenericIdentity("anna"), new string[0]);
  Console.WriteLine("13 "+t.Read()); Console.WriteLine("14 "+t.Pass(new Noted())+" "+t.Kind(DateTime.UtcNow));
  t.Nothing(); Console.WriteLine("15 "+t.Add(3,4)+Thread.CurrentPrincipal.Identity.Name);
  var th=new Thread(()=>{ Console.WriteLine("16 "+t.Read()); }); th.Start(); th.Join();
  CallContext.LogicalSetData("x", new MemoryHog()); 
  try { Console.WriteLine("17 "+t.Add(1,1)); } catch(Exception e){ Console.WriteLine("17 "+e.GetType()+" "+e.Message); }
  CallContext.FreeNamedDataSlot("x");
 } }
class MemoryHog {}
