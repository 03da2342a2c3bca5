// Which properties a derived class hides: those with the same name and signature, type arguments in their places. As mono lists them.
using System; using System.Reflection; using System.Linq;
public class B0<T> { public virtual T Q { get; set; } public virtual int this[T i] { get { return 0; } } public T N { get; set; } public virtual T RO { get { return default(T); } } public virtual int P1 { get; set; } protected virtual int Prot { get; set; } public static int S { get; set; } }
public class C1 : B0<object> { public override object Q { get; set; } public override int this[object i] { get { return 1; } } public new object N { get; set; } public override object RO { get { return 1; } } public override int P1 { get { return 1; } } protected override int Prot { get; set; } public new static int S { get; set; } }
public class D1 : B0<string> { public override string Q { get; set; } public override int this[string i] { get { return 1; } } public new string N { get; set; } }
public class X0 { public int Prop { get; set; } public int Same { get; set; } public virtual int V { get; set; } public virtual object O { get { return null; } } public int this[int i] { get { return 0; } } public int G { get { return 0; } } public int Gs { get; set; } }
public class X1 : X0 { public new string Prop { get; set; } public new int Same { get; set; } public new virtual int V { get; set; } public new virtual string O { get { return null; } } public int this[string i] { get { return 0; } } public new int G { get; set; } public new int Gs { get { return 0; } } }
public class X2 : X1 { public override int V { get { return 1; } } public override string O { get { return null; } } }
public class M0<T, U> { public virtual int this[T i] { get { return 0; } } public virtual int this[U i] { get { return 0; } } }
public class M1 : M0<int, int> { }
public class M2 : M0<int, string> { public override int this[int i] { get { return 2; } } }
public class GB<T> { public T A { get; set; } public virtual T W { get; set; } } public class GD<T> : GB<T> { public new T A { get; set; } public override T W { get; set; } } public class GE : GD<int> { public new int A { get; set; } public override int W { get { return 1; } } }
class P { static void Main() { foreach (var t in new[] { typeof(C1), typeof(D1), typeof(X1), typeof(X2), typeof(M1), typeof(M2), typeof(GE), typeof(GD<int>), typeof(GD<>) }) {
   foreach (var f in new[]{ BindingFlags.Public|BindingFlags.Instance, BindingFlags.NonPublic|BindingFlags.Public|BindingFlags.Instance|BindingFlags.Static|BindingFlags.FlattenHierarchy }) {
   Console.WriteLine(t + " " + (int)f); foreach (var p in t.GetProperties(f)) Console.WriteLine("  " + p + " " + p.DeclaringType + " " + (p.GetGetMethod(true) == null ? "" : p.GetGetMethod(true).DeclaringType + "") + " "+(p.GetSetMethod(true) == null ? "" : p.GetSetMethod(true).DeclaringType + ""));
   foreach (var n in t.GetProperties(f).Select(x=>x.Name).Distinct()) { string r; try { r = t.GetProperty(n,f).DeclaringType.ToString(); } catch (Exception e) { r = e.GetType().Name; } Console.WriteLine("    " + n + " " + r); } } } } }
