// A generator of proxies as mocking libraries have it, and expressions compiled into a TypeBuilder.
// mcs: -r:System.Core
using System; using System.Collections.Generic; using System.Linq; using System.Linq.Expressions; using System.Reflection; using System.Reflection.Emit; using System.Diagnostics;
public class X { 
 public interface IFoo { int A(string s); string B { get; set; } event EventHandler C; T G<T>(T x); }
 // a proxy generator as mocking libraries do
 public class Handler { public object Call(string name, object[] args) { Console.WriteLine("call " + name + "(" + string.Join(",", args) + ")"); if (name == "A") return 42; if (name.StartsWith("get_")) return "prop"; if (name=="G") return args[0]; return null; } }
 static Type Proxy(Type iface) {
  var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("proxies"), AssemblyBuilderAccess.RunAndCollect);
  var mb = ab.DefineDynamicModule("proxies");
  var tb = mb.DefineType("P_" + iface.Name, TypeAttributes.Public | TypeAttributes.Class, typeof(object), new[]{iface});
  var h = tb.DefineField("h", typeof(Handler), FieldAttributes.Private);
  var c = tb.DefineConstructor(MethodAttributes.Public, CallingConventions.HasThis, new[]{typeof(Handler)});
  var il = c.GetILGenerator(); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes)); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, h); il.Emit(OpCodes.Ret);
  foreach (var m in iface.GetMethods()) {
   var ps = m.GetParameters().Select(p => p.ParameterType).ToArray();
   var b = tb.DefineMethod(m.Name, MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.HideBySig | MethodAttributes.NewSlot | (m.Attributes & MethodAttributes.SpecialName), m.CallingConvention, m.ReturnType, ps);
   if (m.IsGenericMethod) { var gps = b.DefineGenericParameters(m.GetGenericArguments().Select(g => g.Name).ToArray()); b.SetReturnType(gps[0]); b.SetParameters(gps[0]); ps = new Type[]{gps[0]}; }
   il = b.GetILGenerator(); var arr = il.DeclareLocal(typeof(object[]));
   il.Emit(OpCodes.Ldc_I4, ps.Length); il.Emit(OpCodes.Newarr, typeof(object)); il.Emit(OpCodes.Stloc, arr);
   for (int i = 0; i < ps.Length; i++) { il.Emit(OpCodes.Ldloc, arr); il.Emit(OpCodes.Ldc_I4, i); il.Emit(OpCodes.Ldarg, (short)(i+1)); il.Emit(OpCodes.Box, ps[i]); il.Emit(OpCodes.Stelem_Ref); }
   il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, h); il.Emit(OpCodes.Ldstr, m.Name); il.Emit(OpCodes.Ldloc, arr); il.Emit(OpCodes.Callvirt, typeof(Handler).GetMethod("Call"));
   var ret = m.IsGenericMethod ? b.ReturnType : m.ReturnType;
   if (ret == typeof(void)) il.Emit(OpCodes.Pop); else il.Emit(OpCodes.Unbox_Any, ret);
   il.Emit(OpCodes.Ret); tb.DefineMethodOverride(b, m);
  }
  return tb.CreateType();
 }
 static void Main() {
  var f = (IFoo)Activator.CreateInstance(Proxy(typeof(IFoo)), new Handler());
  Console.WriteLine(f.A("s")); f.B = "v"; Console.WriteLine(f.B); f.C += (s,e)=>{}; Console.WriteLine(f.G(7) + f.G("str"));
  var e2 = Expression.Parameter(typeof(int)); 
  int n = 0; for (int i = 0; i < 30; i++) { Expression<Func<int,int>> ex = x => x + i; n += ex.Compile()(1); }
  Console.WriteLine(n);
  var del = Expression.Lambda<Func<int,int>>(Expression.Add(Expression.Multiply(e2, Expression.Constant(3)), Expression.Constant(1)), e2).Compile();
  int q = 0; for (int i = 0; i < 5000; i++) q = del(q); Console.WriteLine(q);
  // CompileToMethod
  var ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("ctm"), AssemblyBuilderAccess.Run); var tb = ab.DefineDynamicModule("m").DefineType("T"); var mb = tb.DefineMethod("M", MethodAttributes.Public|MethodAttributes.Static);
  Expression<Func<string,int>> ctm = s => s.Length * 2; ctm.CompileToMethod(mb);
  Console.WriteLine(tb.CreateType().GetMethod("M").Invoke(null, new object[]{"abc"}));
 }
}
