// What a program must not do with builders is an exception or does what it would do in any order, and harms nothing else. (Mono crashes in most of these cases.)
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;

[AttributeUsage(AttributeTargets.All)]
public class NamesAttribute : Attribute { public NamesAttribute(string[] names) { } public NamesAttribute(object value) { } }

// A member that no runtime made.
class OwnConstructor : ConstructorInfo
{
    public override MethodAttributes Attributes { get { return MethodAttributes.Public; } }
    public override RuntimeMethodHandle MethodHandle { get { return default(RuntimeMethodHandle); } }
    public override Type DeclaringType { get { return typeof(NamesAttribute); } }
    public override string Name { get { return ".ctor"; } }
    public override Type ReflectedType { get { return typeof(NamesAttribute); } }
    public override object[] GetCustomAttributes(bool inherit) { return new object[0]; }
    public override object[] GetCustomAttributes(Type type, bool inherit) { return new object[0]; }
    public override bool IsDefined(Type type, bool inherit) { return false; }
    public override MethodImplAttributes GetMethodImplementationFlags() { return 0; }
    public override ParameterInfo[] GetParameters() { return new ParameterInfo[0]; }
    public override object Invoke(object o, BindingFlags flags, Binder binder, object[] args, CultureInfo culture) { return null; }
    public override object Invoke(BindingFlags flags, Binder binder, object[] args, CultureInfo culture) { return null; }
}

class Misuse
{
    static ModuleBuilder New(string name)
    {
        return AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.Run).DefineDynamicModule(name);
    }
    static void Try(string what, Func<object> work)
    {
        try { Console.WriteLine(what + ": " + work()); }
        catch (Exception e) { Console.WriteLine(what + ": " + (e.InnerException ?? e).GetType().Name); }
    }
    // A method of another type that makes a value of the type.
    static MethodInfo Mention(TypeBuilder type)
    {
        var user = New("user").DefineType("User", TypeAttributes.Public);
        var make = user.DefineMethod("Make", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes);
        var il = make.GetILGenerator();
        var local = il.DeclareLocal(type);
        il.Emit(OpCodes.Ldloca, local);
        il.Emit(OpCodes.Initobj, type);
        il.Emit(OpCodes.Ldloc, local);
        il.Emit(OpCodes.Box, type);
        il.Emit(OpCodes.Ret);
        return user.CreateType().GetMethod("Make");
    }

    static void Main()
    {
        Try("struct becomes class", () => { // expect: struct becomes class: TypeLoadException
            var t = New("a").DefineType("T", TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType));
            Mention(t);
            t.SetParent(typeof(Exception));
            return t.CreateType();
        });
        Try("class becomes struct", () => { // expect: class becomes struct: TypeLoadException
            var t = New("b").DefineType("T", TypeAttributes.Public | TypeAttributes.SequentialLayout);
            Mention(t);
            t.SetParent(typeof(ValueType));
            return t.CreateType();
        });
        Try("own ValueType", () => { // expect: own ValueType: TypeLoadException
            var v = New("c").DefineType("System.ValueType", TypeAttributes.Public);
            v.DefineField("o", typeof(object), FieldAttributes.Public);
            v.DefineDefaultConstructor(MethodAttributes.Public);
            var d = New("d").DefineType("D", TypeAttributes.Public, v.CreateType());
            d.DefineDefaultConstructor(MethodAttributes.Public);
            return Activator.CreateInstance(d.CreateType());
        });
        Try("own constructor", () => new CustomAttributeBuilder(new OwnConstructor(), new object[0]) == null); // expect: own constructor: NotSupportedException
        Try("wrong array", () => { // expect: wrong array: ArgumentException
            return new CustomAttributeBuilder(typeof(NamesAttribute).GetConstructor(new[] { typeof(string[]) }), new object[] { new long[] { 1, 2 } }) == null;
        });
        var ofObject = typeof(NamesAttribute).GetConstructor(new[] { typeof(object) });
        Try("array of itself", () => { // expect: array of itself: ArgumentException
            var array = new object[1];
            array[0] = array;
            return new CustomAttributeBuilder(ofObject, new object[] { array }) == null;
        });
        Try("plain object", () => new CustomAttributeBuilder(ofObject, new object[] { new object() }) == null); // expect: plain object: ArgumentException
        Try("deep", () => { // expect: deep: TypeLoadException
            var m = New("e");
            Type p = m.DefineType("P", TypeAttributes.Public);
            for (int i = 0; i < 100000; i++) p = p.MakePointerType();
            var t = m.DefineType("T", TypeAttributes.Public);
            t.DefineField("f", p, FieldAttributes.Public);
            return t.CreateType();
        });
        Try("twice", () => { // expect: twice: 50 of 50
            int same = 0;
            var m = New("f");
            for (int i = 0; i < 50; i++) {
                var t = m.DefineType("G" + i, TypeAttributes.Public);
                t.DefineGenericParameters("A", "B");
                t.DefineDefaultConstructor(MethodAttributes.Public);
                var made = new Type[2];
                var threads = new Thread[2];
                var start = new ManualResetEvent(false);
                for (int k = 0; k < 2; k++) {
                    int me = k;
                    threads[k] = new Thread(() => { start.WaitOne(); try { made[me] = t.CreateType(); } catch (Exception e) { Console.WriteLine(e); } });
                    threads[k].Start();
                }
                start.Set();
                foreach (var thread in threads) thread.Join();
                // (Managed code gives a thread that comes late null before the other one has ended.)
                if (made[0] == null) made[0] = made[1];
                var closed = made[0].MakeGenericType(typeof(int), typeof(string));
                if ((made[1] == null || made[0] == made[1]) && Activator.CreateInstance(closed) != null && made[0].GetConstructors().Length == 1) same++;
            }
            return same + " of 50";
        });
        Try("mentioned by its parent in another module", () => { // expect: mentioned by its parent in another module: True
            var m = New("g");
            var a = m.DefineType("A", TypeAttributes.Public);
            a.DefineGenericParameters("T");
            var b = New("h").DefineType("B", TypeAttributes.Public);
            b.SetParent(typeof(List<>).MakeGenericType(a.MakeGenericType(typeof(int))));
            a.SetParent(b);
            foreach (var t in new[] { a, b })
                t.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, Type.EmptyTypes).GetILGenerator().Emit(OpCodes.Ret);
            ResolveEventHandler resolve = (o, e) => (e.Name == "A" ? a.CreateType() : b.CreateType()).Assembly;
            AppDomain.CurrentDomain.TypeResolve += resolve;
            try { return a.CreateType().IsGenericTypeDefinition; }
            finally { AppDomain.CurrentDomain.TypeResolve -= resolve; }
        });
    }
}
