// Call sites of the C# binder: compiled expressions over DynamicMethods.
// mcs: -r:System.Core -r:Microsoft.CSharp
using System; using System.Collections.Generic; using System.Dynamic;
class D { 
 class T { public int F = 3; public string M(int a) { return "int"+a; } public string M(string a) { return "str"+a; } public int this[int i] { get { return i*2; } } public int P { get; set; } }
 static void Main() {
  dynamic t = new T();
  Console.WriteLine(t.F + t.M(4) + t.M("q") + t[7]);
  t.P = 5; t.P += 2; Console.WriteLine(t.P);
  dynamic e = new ExpandoObject(); e.X = 1; e.Y = (Func<int,int>)(z => z+1); Console.WriteLine(e.X + e.Y(5));
  dynamic a = 1, b = 2.5; Console.WriteLine(a + b); Console.WriteLine((a + "s") + (a < b));
  try { t.Nope(); } catch (Exception x) { Console.WriteLine(x.GetType().Name + ": " + x.Message); }
  foreach (dynamic i in new List<object>{1,"two",3.0}) Console.Write(i.ToString() + " ");
  Console.WriteLine();
  dynamic arr = new int[]{1,2,3}; int sum = 0; foreach (int i in arr) sum += i; Console.WriteLine(sum + arr.Length);
  string s = t.M(1); object o = (long)a; Console.WriteLine(s+o.GetType());
  for (int i=0;i<3;i++) { dynamic q = i%2==0 ? (object)i : "x"+i; Console.Write(Over(q)+" "); } Console.WriteLine();
 }
 static string Over(int i) { return "I"; } static string Over(string i) { return "S"; }
}
