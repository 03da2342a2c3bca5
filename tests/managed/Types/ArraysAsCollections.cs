// As collections, arrays of value types are other arrays, too: by the reduced type of their elements, in the interfaces that are not read-only. Mono prints the same.
using System; using System.Collections.Generic; using System.Reflection; using System.Reflection.Emit;
class P {
 enum Ei { Z } enum Eu : uint { Z} enum Eb : byte { Q } enum El : long { Q } enum Ec : sbyte {} enum Es : short {}
 static T Make<T>(Type ret, Type[] args, Action<ILGenerator> body) where T : class { var m = new DynamicMethod("made", ret, args, typeof(P).Module, true); body(m.GetILGenerator()); return (T)(object)m.CreateDelegate(typeof(T)); }
 static string Of(Func<object> f) { try { var o = f(); return o == null ? "n" : o is bool ? o.ToString().Substring(0,1) : "y"; } catch (Exception e) { return "x"; } }
 static void Main() {
  var els = new Type[] { typeof(int), typeof(uint), typeof(Ei), typeof(Eu), typeof(Eb), typeof(El), typeof(Ec), typeof(Es), typeof(byte), typeof(sbyte), typeof(long), typeof(ulong), typeof(IntPtr), typeof(UIntPtr), typeof(short), typeof(ushort), typeof(char), typeof(bool), typeof(float),typeof(double), typeof(ValueType), typeof(Enum), typeof(object) };
  var one = new[]{typeof(object)};
  foreach (var i in new[]{typeof(IList<>),typeof(ICollection<>),typeof(IEnumerable<>),typeof(IReadOnlyList<>),typeof(IReadOnlyCollection<>)}) foreach (var e in els) { 
   var tt=i.MakeGenericType(e);
   var cast = Make<Func<object,object>>(typeof(object), one, g => { g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Castclass, tt); g.Emit(OpCodes.Ret); });
   var isin = Make<Func<object,object>>(typeof(object), one, g => { g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Isinst, tt); g.Emit(OpCodes.Ret); });
   var holder = Array.CreateInstance(tt,1); var h2=(object[])holder;
   Console.WriteLine(i.Name+" "+e.Name);
   foreach (var e2 in els) { var v=Array.CreateInstance(e2,1);
     var s = Of(()=>cast(v))+Of(()=>isin(v))+Of(()=>{h2[0]=v; return 1;})+Of(()=>{holder.SetValue(v,0); return 1;})+Of(()=>tt.IsAssignableFrom(v.GetType()))+Of(()=>tt.IsInstanceOfType(v));
     if (s != "xnxxFF") Console.WriteLine("   "+v.GetType()+": "+s);  }
  }
 }
}
