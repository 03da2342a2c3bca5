// What builders answer: attributes that the new type cannot see, enums that are none, constants, tokens, nulls, types without run access.
using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public class Builders
{
    [AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
    public class SeenAttribute : Attribute { }
    [AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
    class UnseenAttribute : Attribute { }
    public enum Small : byte { One = 1, Two }

    static int count;
    static ModuleBuilder Module(AssemblyBuilderAccess access, out AssemblyBuilder assembly)
    {
        var name = new AssemblyName("builders" + count++);
        assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(name, access);
        return access == AssemblyBuilderAccess.Run ? assembly.DefineDynamicModule(name.Name) : assembly.DefineDynamicModule(name.Name, name.Name + ".dll");
    }
    static CustomAttributeBuilder Attr(Type t)
    {
        return new CustomAttributeBuilder(t.GetConstructor(Type.EmptyTypes), new object[0]);
    }
    static string Names(object[] attributes)
    {
        return string.Join(" ", attributes.Select(a => a.GetType().Name).OrderBy(n => n, StringComparer.Ordinal));
    }
    static void Try(string what, Func<object> make)
    {
        try {
            Console.WriteLine("{0}: {1}", what, make() ?? "null");
        } catch (Exception e) {
            var argument = e as ArgumentException;
            Console.WriteLine("{0}: {1}: {2}{3}", what, e.GetType().Name, e.Message.Replace("\n", " / "), argument == null ? "" : " <" + argument.ParamName + ">");
        }
    }

    static void Main()
    {
        Attributes();
        Enums();
        Constants();
        Tokens();
        Nulls();
        Access();
    }

    static void Attributes()
    {
        Console.WriteLine("--- attributes");
        AssemblyBuilder a;
        var m = Module(AssemblyBuilderAccess.Run, out a);
        Type[] both = { typeof(SeenAttribute), typeof(UnseenAttribute), typeof(SeenAttribute) };
        foreach (var t in both) { a.SetCustomAttribute(Attr(t)); m.SetCustomAttribute(Attr(t)); }
        Try("assembly", () => Names(a.GetCustomAttributes(true)));
        Try("module", () => Names(m.GetCustomAttributes(true)));
        var own = m.DefineType("OwnAttribute", TypeAttributes.NotPublic, typeof(Attribute));
        var ctor = own.DefineDefaultConstructor(MethodAttributes.Public);
        own.CreateType();
        var tb = m.DefineType("T", TypeAttributes.Public);
        var fb = tb.DefineField("f", typeof(int), FieldAttributes.Public);
        var mb = tb.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) });
        var pb = mb.DefineParameter(1, ParameterAttributes.In, "p");
        var rb = mb.DefineParameter(0, ParameterAttributes.None, null);
        mb.GetILGenerator().Emit(OpCodes.Ldarg_0);
        mb.GetILGenerator().Emit(OpCodes.Ret);
        var cb = tb.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, Type.EmptyTypes);
        cb.GetILGenerator().Emit(OpCodes.Ret);
        var prop = tb.DefineProperty("P", PropertyAttributes.None, typeof(int), null);
        prop.SetGetMethod(mb);
        tb.DefineEvent("E", EventAttributes.None, typeof(EventHandler));
        foreach (var t in both) {
            tb.SetCustomAttribute(Attr(t));
            fb.SetCustomAttribute(Attr(t));
            mb.SetCustomAttribute(Attr(t));
            pb.SetCustomAttribute(Attr(t));
            rb.SetCustomAttribute(Attr(t));
            cb.SetCustomAttribute(Attr(t));
            prop.SetCustomAttribute(Attr(t));
        }
        tb.SetCustomAttribute(new CustomAttributeBuilder(ctor, new object[0]));
        Try("before", () => tb.IsDefined(typeof(SeenAttribute), false));
        Try("before", () => Names(tb.GetCustomAttributes(true)));
        var type = tb.CreateType();
        Try("type", () => Names(type.GetCustomAttributes(true)));
        Try("field", () => Names(type.GetField("f").GetCustomAttributes(true)));
        Try("method", () => Names(type.GetMethod("M").GetCustomAttributes(true)));
        Try("parameter", () => Names(type.GetMethod("M").GetParameters()[0].GetCustomAttributes(true)));
        Try("result", () => Names(type.GetMethod("M").ReturnParameter.GetCustomAttributes(true)));
        Try("constructor", () => Names(type.GetConstructors()[0].GetCustomAttributes(true)));
        Try("property", () => Names(type.GetProperty("P").GetCustomAttributes(true)));
        Try("unseen", () => type.IsDefined(typeof(UnseenAttribute), false));
        Try("data", () => string.Join(" ", type.GetCustomAttributesData().Select(d => d.Constructor.DeclaringType.Name)));
        Try("builder is defined", () => tb.IsDefined(typeof(SeenAttribute), false));
        Try("builder is defined", () => tb.IsDefined(typeof(ObsoleteAttribute), false));
        Try("builder", () => Names(tb.GetCustomAttributes(true)));
        Try("builder of method", () => Names(mb.GetCustomAttributes(true)));
        Try("builder of field", () => Names(fb.GetCustomAttributes(true)));
        var import = m.DefineType("Imports");
        var dll = import.DefineMethod("puts", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(string) });
        dll.SetCustomAttribute(new CustomAttributeBuilder(typeof(DllImportAttribute).GetConstructor(new[] { typeof(string) }), new object[] { "c" }));
        import.DefinePInvokeMethod("abs", "c", MethodAttributes.Public | MethodAttributes.Static | MethodAttributes.PinvokeImpl, CallingConventions.Standard, typeof(int), new[] { typeof(int) }, CallingConvention.Cdecl, CharSet.None).SetImplementationFlags(MethodImplAttributes.PreserveSig);
        import.DefinePInvokeMethod("labs", "c", "labs", MethodAttributes.Public | MethodAttributes.Static | MethodAttributes.PinvokeImpl, CallingConventions.Standard, typeof(long), new[] { typeof(long) }, CallingConvention.Winapi, CharSet.Unicode);
        import.DefinePInvokeMethod("exit", "c", MethodAttributes.Public | MethodAttributes.Static | MethodAttributes.PinvokeImpl, CallingConventions.Standard, typeof(void), new[] { typeof(int) }, CallingConvention.StdCall, CharSet.Auto);
        foreach (var method in import.CreateType().GetMethods(BindingFlags.Static | BindingFlags.Public)) {
            foreach (DllImportAttribute d in method.GetCustomAttributes(typeof(DllImportAttribute), true))
                Console.WriteLine("{0}: {1} {2} {3} {4} {5} {6} {7} {8} {9}", method.Name, d.Value, d.EntryPoint, d.CharSet, d.CallingConvention, d.ExactSpelling, d.PreserveSig, d.SetLastError, d.BestFitMapping, d.ThrowOnUnmappableChar);
        }
    }

    static void Enums()
    {
        Console.WriteLine("--- enums");
        AssemblyBuilder a;
        var m = Module(AssemblyBuilderAccess.Run, out a);
        const FieldAttributes Value = FieldAttributes.SpecialName | FieldAttributes.Private | FieldAttributes.RTSpecialName;
        Func<string, TypeAttributes, TypeBuilder> define = (name, more) => m.DefineType(name, TypeAttributes.Sealed | TypeAttributes.Serializable | more, typeof(Enum));
        Action<TypeBuilder> create = tb => {
            Try(tb.Name, () => tb.CreateType());
            Try(tb.Name + " created", () => tb.IsCreated());
            Try(tb.Name + " again", () => tb.CreateType());
        };
        create(define("Empty", 0));
        foreach (var t in new[] { typeof(object), typeof(string), typeof(DateTime), typeof(float), typeof(bool), typeof(char), typeof(IntPtr), typeof(Small), typeof(ulong) }) {
            var tb = define("Of" + t.Name, 0);
            tb.DefineField("value__", t, Value);
            create(tb);
        }
        var two = define("Two", 0);
        two.DefineField("value__", typeof(int), Value);
        two.DefineField("value2__", typeof(int), Value);
        create(two);
        foreach (var layout in new[] { TypeAttributes.ExplicitLayout, TypeAttributes.SequentialLayout }) {
            var tb = define(layout.ToString(), layout);
            tb.DefineField("value__", typeof(int), Value);
            create(tb);
        }
        var methods = define("Methods", 0);
        methods.DefineField("value__", typeof(int), Value);
        methods.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Static, typeof(void), null).GetILGenerator().Emit(OpCodes.Ret);
        create(methods);
        var good = define("Good", 0);
        good.DefineField("value__", typeof(int), Value);
        good.DefineField("A", good, FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal).SetConstant(3);
        create(good);
        Try("Good.A", () => Enum.Parse(good.CreateType(), "A"));
    }

    static void Constants()
    {
        Console.WriteLine("--- constants");
        AssemblyBuilder a;
        var m = Module(AssemblyBuilderAccess.Run, out a);
        var tb = m.DefineType("T", TypeAttributes.Public | TypeAttributes.Abstract | TypeAttributes.Interface);
        Type[] types = { typeof(int?), typeof(int?), typeof(Small?), typeof(Small?), typeof(Small), typeof(string), typeof(object), typeof(long) };
        object[] values = { null, 42, null, Small.Two, Small.Two, "s", null, 7L };
        var mb = tb.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Abstract | MethodAttributes.Virtual, typeof(void), types);
        for (int i = 0; i < types.Length; i++)
            mb.DefineParameter(i + 1, ParameterAttributes.Optional | ParameterAttributes.HasDefault, "p" + i).SetConstant(values[i]);
        foreach (var p in tb.CreateType().GetMethod("M").GetParameters())
            Console.WriteLine("{0} {1}", p.DefaultValue ?? "null", p.DefaultValue == null ? "" : p.DefaultValue.GetType().Name);
        var date = m.DefineType("Date", TypeAttributes.Public);
        var fb = date.DefineField("f", typeof(DateTime), FieldAttributes.Public);
        Try("date", () => { fb.SetConstant(DateTime.MinValue); return date.CreateType(); });
        Try("attributes", () => date.CreateType().GetField("f").Attributes);
        Try("value", () => date.CreateType().GetField("f").GetValue(Activator.CreateInstance(date.CreateType())));
        var data = m.DefineType("Data");
        data.DefineUninitializedData("none", 4, FieldAttributes.Public);
        data.DefineInitializedData("some", new byte[] { 1, 2, 3, 4, 5 }, FieldAttributes.Public);
        var made = data.CreateType();
        foreach (var name in new[] { "none", "some" }) {
            Try(name, () => made.GetField(name).Attributes);
            Try(name, () => made.GetField(name).FieldType);
            Try(name, () => made.GetField(name).GetValue(null));
        }
    }

    static void Tokens()
    {
        Console.WriteLine("--- tokens");
        foreach (var access in new[] { AssemblyBuilderAccess.Run, AssemblyBuilderAccess.RunAndSave }) {
            AssemblyBuilder a;
            var m = Module(access, out a);
            Try("module", () => m.MetadataToken);
            m.CreateGlobalFunctions();
            Try("module", () => m.MetadataToken);
            var tb = m.DefineType("Foo`1");
            var t = tb.DefineGenericParameters("T")[0];
            tb.DefineField("field", t, FieldAttributes.Public);
            var mb = tb.DefineMethod("Method", MethodAttributes.Static, typeof(void), new[] { t });
            mb.GetILGenerator().Emit(OpCodes.Ret);
            tb.DefineDefaultConstructor(MethodAttributes.Public);
            Try("before", () => m.ResolveMember(0x04000001, new[] { typeof(string) }, Type.EmptyTypes));
            Try("before", () => m.ResolveMember(0x06000001, new[] { typeof(string) }, Type.EmptyTypes));
            Try("before", () => m.ResolveType(0x02000002));
            var type = tb.CreateType();
            foreach (var args in new[] { null, new[] { typeof(string) }, Type.EmptyTypes }) {
                Try("field", () => ((FieldInfo)m.ResolveMember(0x04000001, args, Type.EmptyTypes)).FieldType);
                Try("field", () => m.ResolveField(0x04000001, args, null).FieldType);
                Try("method", () => ((MethodInfo)m.ResolveMember(0x06000001, args, Type.EmptyTypes)).GetParameters()[0].ParameterType);
                Try("method", () => m.ResolveMethod(0x06000001, args, null).GetParameters()[0].ParameterType);
                Try("type", () => m.ResolveType(0x02000002, args, null));
            }
            Try("no field", () => m.ResolveField(0x04001234));
            Try("no method", () => m.ResolveMethod(0x06001234));
            Try("no type", () => m.ResolveType(0x02001234));
            Try("no member", () => m.ResolveMember(0x04001234));
            Try("no member", () => m.ResolveMember(0x01000777));
            Try("no member", () => m.ResolveMember(0x0a000777));
            Try("no string", () => m.ResolveString(0x70000777));
            Try("no table", () => m.ResolveMember(0x55000001));
            Try("of type", () => m.ResolveField(0x02000002));
            Try("definition is the builder", () => ReferenceEquals(tb, type.MakeGenericType(typeof(int)).GetGenericTypeDefinition()));
            Try("definition of the type is the builder", () => ReferenceEquals(tb, type.GetGenericTypeDefinition()));
            Try("definition is the type", () => ReferenceEquals(type, type.GetGenericTypeDefinition()));
            Try("instance", () => type.MakeGenericType(typeof(int)).GetGenericTypeDefinition() == type);
            Try("instance", () => type.MakeGenericType(typeof(int)).GetGenericTypeDefinition().Equals(type));
            Try("instance", () => type == type.MakeGenericType(typeof(int)).GetGenericTypeDefinition());
        }
    }

    static void Nulls()
    {
        Console.WriteLine("--- nulls");
        AssemblyBuilder a;
        var m = Module(AssemblyBuilderAccess.Run, out a);
        var tb = m.DefineType("T");
        var il = tb.DefineMethod("M", MethodAttributes.Public, typeof(void), null).GetILGenerator();
        Try("signature", () => { il.Emit(OpCodes.Switch, (SignatureHelper)null); return 0; });
        Try("type", () => { il.Emit(OpCodes.Newobj, (Type)null); return 0; });
        Try("constructor", () => { il.Emit(OpCodes.Newobj, (ConstructorInfo)null); return 0; });
        Try("method", () => { il.Emit(OpCodes.Call, (MethodInfo)null); return 0; });
        Try("field", () => { il.Emit(OpCodes.Ldfld, (FieldInfo)null); return 0; });
        Try("string", () => { il.Emit(OpCodes.Ldstr, (string)null); return 0; });
        Try("local", () => { il.Emit(OpCodes.Ldloc, (LocalBuilder)null); return 0; });
        Try("call", () => { il.EmitCall(OpCodes.Call, null, null); return 0; });
    }

    static void Access()
    {
        Console.WriteLine("--- access");
        AssemblyBuilder a;
        var m = Module(AssemblyBuilderAccess.Save, out a);
        var tb = m.DefineType("T", TypeAttributes.Public);
        var mb = tb.DefineMethod("S", MethodAttributes.Public | MethodAttributes.Static, typeof(int), null);
        mb.GetILGenerator().Emit(OpCodes.Ldc_I4_3);
        mb.GetILGenerator().Emit(OpCodes.Ret);
        tb.DefineField("f", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        var type = tb.CreateType();
        Try("instance", () => Activator.CreateInstance(type));
        Try("invoke", () => type.GetMethod("S").Invoke(null, null));
        Try("construct", () => type.GetConstructors()[0].Invoke(null));
        Try("field", () => type.GetField("f").GetValue(null));
        Try("array", () => Array.CreateInstance(type, 2).Length);
        Try("delegate", () => ((Func<int>)Delegate.CreateDelegate(typeof(Func<int>), type.GetMethod("S")))());
    }
}
