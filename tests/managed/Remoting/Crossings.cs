// What calls into another domain do with exceptions that cannot be serialized, [Out] arrays and many arguments; and which method a message names.
using System; using System.Collections; using System.Reflection; using System.Runtime.Remoting.Messaging; using System.Runtime.Remoting.Proxies; using System.Runtime.Serialization;
public interface I { string M(int n); string G<T>(T t); }
public class NotSerializable : Exception { public NotSerializable(string s):base(s){} }
[Serializable] public class Throws : Exception { public Throws(){} protected Throws(SerializationInfo i, StreamingContext c):base(i,c){} public override void GetObjectData(SerializationInfo i, StreamingContext c){ throw new ApplicationException("in GetObjectData"); } }
[Serializable] public struct S { public int X; }
public enum E { A, B }
public class T : MarshalByRefObject, I { 
 string I.M(int n){ return "M"+n; } string I.G<T1>(T1 t){ return typeof(T1).Name; }
 public void Deep(){ throw new InvalidOperationException("too deep", new StackOverflowException("inner")); }
 public void More([System.Runtime.InteropServices.Out] int[][] a,[System.Runtime.InteropServices.Out] IntPtr[] b){ a[0]=new[]{7}; b[0]=(IntPtr)5; }
 public void Plain(){ throw new NotSerializable("x"); } public void Odd(){ throw new Throws(); }
 public void Outs([System.Runtime.InteropServices.Out] int[] a,[System.Runtime.InteropServices.Out] string[] b,[System.Runtime.InteropServices.Out] S[] c,[System.Runtime.InteropServices.Out] E[] d,[System.Runtime.InteropServices.Out] object[] e){ a[0]=1; b[0]="b"; c[0].X=2; d[0]=E.B; e[0]="o"; }
 public int Ten(int a,string b,object c,long d,double e,ref int f,out string g,int[] h,DateTime i,decimal j){ f+=a; g=b+c; return a+(int)d+(int)e+h.Length+(int)i.Kind+(int)j; }
}
class Names : RealProxy { public Names():base(typeof(T)){} public override IMessage Invoke(IMessage m){ var c=(IMethodCallMessage)m; Console.WriteLine("{0} of {1}", c.MethodName, c.MethodBase.DeclaringType.Name); return new ReturnMessage("r",null,0,c.LogicalCallContext,c); } }
delegate string F(int n);
class P { static void Try(string n, Action a){ try { a(); } catch(Exception e){ Console.WriteLine("{0}: {1}: {2}", n, e.GetType().Name, e.Message.Split('\'')[0]); } }
 static void Main(){ var d=AppDomain.CreateDomain("kid"); var t=(T)d.CreateInstanceAndUnwrap(typeof(T).Assembly.FullName,"T");
  Try("plain", t.Plain); Try("odd", t.Odd); Try("deep", t.Deep); try { t.Deep(); } catch(Exception x){ Console.WriteLine(x.InnerException.GetType().Name+" "+x.InnerException.Message); }
  var jagged=new int[1][]; var pointers=new IntPtr[1]; t.More(jagged, pointers); Console.WriteLine("{0} {1}", jagged[0]==null?-1:jagged[0][0], pointers[0]);
  var a=new int[1]; var b=new string[1]; var c=new S[1]; var e=new E[1]; var o=new object[1]; t.Outs(a,b,c,e,o); Console.WriteLine("{0} {1} {2} {3} {4}", a[0], b[0], c[0].X, e[0], o[0]??"null");
  int f=5; string g; Console.WriteLine(t.Ten(1,"b","c",3,4,ref f,out g,new int[7],new DateTime(1,DateTimeKind.Local),9m)+" "+f+" "+g);
  var i=(I)t; Console.WriteLine(i.M(3)+i.G("x")+typeof(I).GetMethod("M").Invoke(t,new object[]{4})+typeof(I).GetMethod("G").MakeGenericMethod(typeof(int)).Invoke(t,new object[]{4})); F del=i.M; Console.WriteLine(del.EndInvoke(del.BeginInvoke(6,null,null)));
  i=(I)new Names().GetTransparentProxy(); i.M(1); i.G(2); typeof(I).GetMethod("M").Invoke(i,new object[]{4}); del=i.M; del(1);
  } }
