// What a TypeBuilder describes becomes a type like any other.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;

public interface IShape { double Area(); string Name { get; } }
public abstract class Base { protected int n; public Base(int n) { this.n = n; } public abstract int Get(); public virtual string V() { return "base"; } }

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
public class MarkAttribute : Attribute
{
    public readonly string Text; public int Number { get; set; } public Type Ty; public int[] Values; public object Any;
    public DayOfWeek Day;
    public MarkAttribute(string text) { Text = text; }
}

class Types
{
    static AssemblyBuilder ab;
    static ModuleBuilder mb;

    static void Main()
    {
        AppDomain.CurrentDomain.AssemblyLoad += (s, e) => { if (e.LoadedAssembly.GetName().Name == "dyn") Console.WriteLine("loaded " + e.LoadedAssembly.GetType().Name); }; // expect: loaded AssemblyBuilder
        ab = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("dyn") { Version = new Version(1, 2, 3, 4) }, AssemblyBuilderAccess.Run);
        Console.WriteLine(ab.FullName); // expect: dyn, Version=1.2.3.4, Culture=neutral, PublicKeyToken=null
        mb = ab.DefineDynamicModule("dynmod");
        Simple();
        Inheritance();
        MutualTypes();
        ValueTypesEnumsDelegates();
        Attributes();
        BodiesWithHandlers();
        Last();
    }

    static void Simple()
    {
        var tb = mb.DefineType("N.Simple", TypeAttributes.Public);
        var f = tb.DefineField("value", typeof(int), FieldAttributes.Private);
        var s = tb.DefineField("Count", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        var ctor = tb.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new[] { typeof(int) });
        var il = ctor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, f);
        il.Emit(OpCodes.Ldsfld, s); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Stsfld, s);
        il.Emit(OpCodes.Ret);
        var twice = tb.DefineMethod("Twice", MethodAttributes.Public, typeof(int), Type.EmptyTypes);
        il = twice.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, f); il.Emit(OpCodes.Ldc_I4_2); il.Emit(OpCodes.Mul); il.Emit(OpCodes.Ret);
        var make = tb.DefineMethod("Make", MethodAttributes.Public | MethodAttributes.Static, tb, new[] { typeof(string) });
        make.DefineParameter(1, ParameterAttributes.None, "text");
        il = make.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, typeof(string).GetProperty("Length").GetGetMethod());
        il.Emit(OpCodes.Newobj, ctor); il.Emit(OpCodes.Ret);
        var prop = tb.DefineProperty("Value", PropertyAttributes.None, typeof(int), null);
        var get = tb.DefineMethod("get_Value", MethodAttributes.Public | MethodAttributes.SpecialName, typeof(int), Type.EmptyTypes);
        il = get.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, f); il.Emit(OpCodes.Ret);
        prop.SetGetMethod(get);
        var t = tb.CreateType();
        Console.WriteLine(t.FullName + " " + t.GetType().Name + " " + t.Assembly.GetName().Name + " " + t.BaseType); // expect: N.Simple RuntimeType dyn System.Object
        var o = Activator.CreateInstance(t, 21);
        Console.WriteLine(t.GetMethod("Twice").Invoke(o, null)); // expect: 42
        Console.WriteLine(t.GetField("Count").GetValue(null)); // expect: 1
        var o2 = t.GetMethod("Make").Invoke(null, new object[] { "four" });
        Console.WriteLine(t.GetProperty("Value").GetValue(o2, null) + " " + t.GetMethod("Make").GetParameters()[0].Name); // expect: 4 text
        Console.WriteLine(string.Join(",", t.GetMembers(BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly).Select(m => m.Name).OrderBy(x => x, StringComparer.Ordinal)));
        // expect: .ctor,Count,Make,Twice,Value,get_Value
        Console.WriteLine(ReferenceEquals(mb.GetType("N.Simple"), t) + " " + (ab.GetType("N.Simple") == t) + " " + o); // expect: True True N.Simple
    }

    static void Inheritance()
    {
        var tb = mb.DefineType("Square", TypeAttributes.Public, typeof(Base), new[] { typeof(IShape), typeof(IComparable<int>) });
        var ctor = tb.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new[] { typeof(int) });
        var il = ctor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Call, typeof(Base).GetConstructor(new[] { typeof(int) })); il.Emit(OpCodes.Ret);
        var get = tb.DefineMethod("Get", MethodAttributes.Public | MethodAttributes.Virtual, typeof(int), Type.EmptyTypes);
        il = get.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, typeof(Base).GetField("n", BindingFlags.NonPublic | BindingFlags.Instance)); il.Emit(OpCodes.Ret);
        var area = tb.DefineMethod("Area", MethodAttributes.Public | MethodAttributes.Virtual, typeof(double), Type.EmptyTypes);
        il = area.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, get); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Mul); il.Emit(OpCodes.Conv_R8); il.Emit(OpCodes.Ret);
        // Explicit implementation.
        var name = tb.DefineMethod("IShape.get_Name", MethodAttributes.Private | MethodAttributes.Virtual | MethodAttributes.Final | MethodAttributes.HideBySig | MethodAttributes.NewSlot | MethodAttributes.SpecialName, typeof(string), Type.EmptyTypes);
        il = name.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "square"); il.Emit(OpCodes.Ret);
        tb.DefineMethodOverride(name, typeof(IShape).GetProperty("Name").GetGetMethod());
        var cmp = tb.DefineMethod("CompareTo", MethodAttributes.Public | MethodAttributes.Virtual, typeof(int), new[] { typeof(int) });
        il = cmp.GetILGenerator();
        il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Ret);
        var t = tb.CreateType();
        var o = Activator.CreateInstance(t, 3);
        var sh = (IShape)o;
        Console.WriteLine(sh.Area() + " " + sh.Name + " " + ((Base)o).Get() + " " + ((Base)o).V() + " " + ((IComparable<int>)o).CompareTo(8)); // expect: 9 square 3 base 8
        Console.WriteLine(string.Join(",", t.GetInterfaces().Select(i => i.Name).OrderBy(x => x))); // expect: IComparable`1,IShape
    }

    static void MutualTypes()
    {
        // Two types whose code and fields mention each other, created one after the other.
        var a = mb.DefineType("A", TypeAttributes.Public);
        var b = mb.DefineType("B", TypeAttributes.Public);
        var fa = a.DefineField("b", b, FieldAttributes.Public);
        var fb = b.DefineField("a", a, FieldAttributes.Public);
        var ca = a.DefineDefaultConstructor(MethodAttributes.Public);
        var cb = b.DefineDefaultConstructor(MethodAttributes.Public);
        var ma = a.DefineMethod("Ping", MethodAttributes.Public, typeof(int), new[] { typeof(int) });
        var mbm = b.DefineMethod("Pong", MethodAttributes.Public, typeof(int), new[] { typeof(int) });
        var il = ma.GetILGenerator();
        var end = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Brfalse, end);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, fa); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Callvirt, mbm); il.Emit(OpCodes.Ret);
        il.MarkLabel(end); il.Emit(OpCodes.Ldc_I4, 100); il.Emit(OpCodes.Ret);
        il = mbm.GetILGenerator();
        end = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Brfalse, end);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, fb); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Callvirt, ma); il.Emit(OpCodes.Ret);
        il.MarkLabel(end); il.Emit(OpCodes.Ldc_I4, 200); il.Emit(OpCodes.Ret);
        var ta = a.CreateType();
        var tb = b.CreateType();
        var oa = Activator.CreateInstance(ta); var ob = Activator.CreateInstance(tb);
        ta.GetField("b").SetValue(oa, ob); tb.GetField("a").SetValue(ob, oa);
        Console.WriteLine(ta.GetMethod("Ping").Invoke(oa, new object[] { 4 }) + " " + ta.GetMethod("Ping").Invoke(oa, new object[] { 5 })); // expect: 100 200
        Console.WriteLine(ta.GetField("b").FieldType == tb); // expect: True
    }

    static void ValueTypesEnumsDelegates()
    {
        var st = mb.DefineType("Pair", TypeAttributes.Public | TypeAttributes.SequentialLayout | TypeAttributes.Sealed, typeof(ValueType));
        st.DefineField("X", typeof(int), FieldAttributes.Public);
        st.DefineField("Y", typeof(double), FieldAttributes.Public);
        var t = st.CreateType();
        Console.WriteLine(t.IsValueType + " " + System.Runtime.InteropServices.Marshal.SizeOf(t)); // expect: True 16
        var eb = mb.DefineEnum("Color", TypeAttributes.Public, typeof(byte));
        eb.DefineLiteral("Red", (byte)1); eb.DefineLiteral("Green", (byte)2);
        var et = eb.CreateType();
        Console.WriteLine(et.IsEnum + " " + string.Join(",", Enum.GetNames(et)) + " " + Enum.GetUnderlyingType(et) + " " + Enum.Parse(et, "Green")); // expect: True Red,Green System.Byte Green
        var db = mb.DefineType("Del", TypeAttributes.Public | TypeAttributes.Sealed, typeof(MulticastDelegate));
        db.DefineConstructor(MethodAttributes.RTSpecialName | MethodAttributes.HideBySig | MethodAttributes.Public, CallingConventions.Standard, new[] { typeof(object), typeof(IntPtr) }).SetImplementationFlags(MethodImplAttributes.Runtime | MethodImplAttributes.Managed);
        db.DefineMethod("Invoke", MethodAttributes.Public | MethodAttributes.HideBySig | MethodAttributes.NewSlot | MethodAttributes.Virtual, typeof(int), new[] { typeof(int) }).SetImplementationFlags(MethodImplAttributes.Runtime | MethodImplAttributes.Managed);
        var dt = db.CreateType();
        var del = Delegate.CreateDelegate(dt, typeof(Types).GetMethod("Inc"));
        Console.WriteLine(del.DynamicInvoke(4)); // expect: 5
        // Nested types
        var outer = mb.DefineType("Outer", TypeAttributes.Public);
        var inner = outer.DefineNestedType("Inner", TypeAttributes.NestedPublic);
        var ot = outer.CreateType(); var it = inner.CreateType();
        Console.WriteLine(it.FullName + " " + (it.DeclaringType == ot) + " " + ot.GetNestedTypes().Length); // expect: Outer+Inner True 1
        var ft = mb.DefineType("Statics", TypeAttributes.Public);
        ft.DefineField("K", typeof(string), FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal).SetConstant("konst");
        Console.WriteLine(ft.CreateType().GetField("K").GetRawConstantValue()); // expect: konst
    }
    public static int Inc(int x) { return x + 1; }

    static void Attributes()
    {
        var tb = mb.DefineType("Marked", TypeAttributes.Public);
        var con = typeof(MarkAttribute).GetConstructor(new[] { typeof(string) });
        tb.SetCustomAttribute(new CustomAttributeBuilder(con, new object[] { "tx" },
            new[] { typeof(MarkAttribute).GetProperty("Number") }, new object[] { 5 },
            new[] { typeof(MarkAttribute).GetField("Ty"), typeof(MarkAttribute).GetField("Values"), typeof(MarkAttribute).GetField("Any"), typeof(MarkAttribute).GetField("Day") },
            new object[] { typeof(List<int>), new[] { 1, 2, 3 }, "any", DayOfWeek.Friday }));
        var m = tb.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(void), new[] { typeof(int) });
        m.SetCustomAttribute(new CustomAttributeBuilder(con, new object[] { "on method" }));
        var p = m.DefineParameter(1, ParameterAttributes.Optional, "p");
        p.SetCustomAttribute(new CustomAttributeBuilder(con, new object[] { "on parameter" }));
        p.SetConstant(77);
        m.GetILGenerator().Emit(OpCodes.Ret);
        var t = tb.CreateType();
        var a = (MarkAttribute)t.GetCustomAttributes(typeof(MarkAttribute), false)[0];
        Console.WriteLine(a.Text + a.Number + a.Ty + a.Values.Length + a.Any + a.Day); // expect: tx5System.Collections.Generic.List`1[System.Int32]3anyFriday
        Console.WriteLine(((MarkAttribute)t.GetMethod("M").GetCustomAttributes(true)[0]).Text); // expect: on method
        var pi = t.GetMethod("M").GetParameters()[0];
        Console.WriteLine(((MarkAttribute)pi.GetCustomAttributes(typeof(MarkAttribute), false)[0]).Text + " " + pi.DefaultValue + " " + pi.IsOptional); // expect: on parameter 77 True
        ab.SetCustomAttribute(new CustomAttributeBuilder(con, new object[] { "on assembly" }));
        Console.WriteLine(((MarkAttribute)ab.GetCustomAttributes(typeof(MarkAttribute), false)[0]).Text); // expect: on assembly
    }

    static void BodiesWithHandlers()
    {
        var tb = mb.DefineType("Handlers", TypeAttributes.Public);
        var m = tb.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(string), new[] { typeof(object) });
        var il = m.GetILGenerator();
        var r = il.DeclareLocal(typeof(string));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString")); il.Emit(OpCodes.Stloc, r);
        il.BeginCatchBlock(typeof(NullReferenceException));
        il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldstr, "was null"); il.Emit(OpCodes.Stloc, r);
        il.BeginFinallyBlock();
        il.EmitWriteLine("cleanup");
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, r); il.Emit(OpCodes.Ret);
        var t = tb.CreateType();
        Console.WriteLine(t.GetMethod("M").Invoke(null, new object[] { null }));
        // expect: cleanup
        // expect: was null
    }

    static void Last()
    {
        Console.WriteLine(AppDomain.CurrentDomain.GetAssemblies().Contains(ab)); // expect: True
        Console.WriteLine(Type.GetType("N.Simple, dyn") == null); // expect: True
    }
}
