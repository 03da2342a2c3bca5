// The same in generic classes that derive from generic ones, and with accessors that only one of the two has.
using System; using System.Reflection; using System.Linq;
public class GB<T> { public T A { get; set; } public virtual int this[T i] { get { return 0; } } } 
public class GH<T> : GB<T> { public new int A { get; set; } public int this[int i] { get { return 0; } } }
public class GI<T> : GB<int> { public new T A { get; set; } public int this[T i] { get { return 0; } } }
public class W0 { public object O { get; set; } public int G { set {} } public int I { get{return 0;} } } public class W1 : W0 { public new string O { set { } } public new string G { get { return null; } } public new string I { set {} } }
class P { static void Main() { foreach (var t in new[] { typeof(GH<int>), typeof(GH<string>), typeof(GH<>), typeof(GI<int>), typeof(W1) }) { Console.WriteLine(t);
   foreach (var p in t.GetProperties()) Console.WriteLine("  " + p + " " + p.DeclaringType);  } } }
