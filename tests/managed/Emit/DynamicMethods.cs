// A DynamicMethod is compiled without metadata: its tokens are its own.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

class DynamicMethods
{
    delegate int Binary(int a, int b);
    delegate void Act();
    int secret = 41;
    static string Hidden(string s) { return "<" + s + ">"; }
    public static int Twice(int x) { return 2 * x; }

    static DynamicMethod Make(string name, Type ret, Type[] args, Action<ILGenerator> body)
    {
        var m = new DynamicMethod(name, ret, args, typeof(DynamicMethods));
        body(m.GetILGenerator());
        return m;
    }

    static void Basics()
    {
        var add = Make("Add", typeof(int), new[] { typeof(int), typeof(int) }, il => {
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret); });
        var d = (Binary)add.CreateDelegate(typeof(Binary));
        Console.WriteLine(d(3, 4)); // expect: 7
        Console.WriteLine(add.Invoke(null, new object[] { 5, 6 })); // expect: 11
        Console.WriteLine(d.Method.GetType().Name + " " + d.Method.Name); // expect: RuntimeMethodInfo Add
        Console.WriteLine(add); // expect: Int32 Add(Int32, Int32)
        // Strings are interned, and the same object as the literal.
        var str = Make("Str", typeof(string), Type.EmptyTypes, il => { il.Emit(OpCodes.Ldstr, "lit" + add.Name); il.Emit(OpCodes.Ret); });
        var s = ((Func<string>)str.CreateDelegate(typeof(Func<string>)))();
        Console.WriteLine(s + " " + ReferenceEquals(s, string.IsInterned("litAdd"))); // expect: litAdd True
        // A closed delegate over the first argument.
        var closed = Make("Closed", typeof(int), new[] { typeof(int[]), typeof(int) }, il => {
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Ldelem_I4); il.Emit(OpCodes.Ret); });
        var c = (Func<int, int>)closed.CreateDelegate(typeof(Func<int, int>), new[] { 10, 20, 30 });
        Console.WriteLine(c(2)); // expect: 30
        // Private members of other classes.
        var priv = Make("Priv", typeof(int), new[] { typeof(DynamicMethods) }, il => {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldfld, typeof(DynamicMethods).GetField("secret", BindingFlags.Instance | BindingFlags.NonPublic));
            il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret); });
        Console.WriteLine(priv.Invoke(null, new object[] { new DynamicMethods() })); // expect: 42
    }

    static void TokensOfEachKind()
    {
        // A generic instantiation, newobj, box, ldtoken, a generic method.
        var m = Make("Kinds", typeof(object), new[] { typeof(int) }, il => {
            var list = typeof(List<int>);
            var local = il.DeclareLocal(list);
            il.Emit(OpCodes.Newobj, list.GetConstructor(Type.EmptyTypes));
            il.Emit(OpCodes.Stloc, local);
            il.Emit(OpCodes.Ldloc, local); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, list.GetMethod("Add"));
            il.Emit(OpCodes.Ldloc, local); il.Emit(OpCodes.Callvirt, list.GetProperty("Count").GetGetMethod());
            il.Emit(OpCodes.Box, typeof(int)); il.Emit(OpCodes.Ret); });
        Console.WriteLine(m.Invoke(null, new object[] { 9 })); // expect: 1
        var t = Make("Tok", typeof(Type), Type.EmptyTypes, il => {
            il.Emit(OpCodes.Ldtoken, typeof(Dictionary<string, int>));
            il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle")); il.Emit(OpCodes.Ret); });
        Console.WriteLine(t.Invoke(null, null)); // expect: System.Collections.Generic.Dictionary`2[System.String,System.Int32]
        var e = Make("Generic", typeof(int[]), Type.EmptyTypes, il => {
            il.Emit(OpCodes.Call, typeof(Array).GetMethod("Empty").MakeGenericMethod(typeof(int))); il.Emit(OpCodes.Ret); });
        Console.WriteLine(((int[])e.Invoke(null, null)).Length); // expect: 0
        // calli through a function pointer.
        var ci = Make("Indirect", typeof(int), new[] { typeof(int) }, il => {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldftn, typeof(DynamicMethods).GetMethod("Twice"));
            il.EmitCalli(OpCodes.Calli, CallingConventions.Standard, typeof(int), new[] { typeof(int) }, null);
            il.Emit(OpCodes.Ret); });
        Console.WriteLine(ci.Invoke(null, new object[] { 21 })); // expect: 42
        // No owner: a member of the module of anonymous methods.
        var anon = new DynamicMethod("", typeof(string), new[] { typeof(string) }, true);
        var g = anon.GetILGenerator();
        g.Emit(OpCodes.Ldarg_0);
        g.Emit(OpCodes.Call, typeof(DynamicMethods).GetMethod("Hidden", BindingFlags.Static | BindingFlags.NonPublic));
        g.Emit(OpCodes.Ret);
        Console.WriteLine(((Func<string, string>)anon.CreateDelegate(typeof(Func<string, string>)))("x")); // expect: <x>
        // byref and struct arguments
        var br = Make("ByRef", typeof(void), new[] { typeof(int).MakeByRefType(), typeof(KeyValuePair<int, string>) }, il => {
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarga_S, (byte)1);
            il.Emit(OpCodes.Call, typeof(KeyValuePair<int, string>).GetProperty("Key").GetGetMethod());
            il.Emit(OpCodes.Stind_I4); il.Emit(OpCodes.Ret); });
        var args = new object[] { 0, new KeyValuePair<int, string>(77, "k") };
        br.Invoke(null, args);
        Console.WriteLine(args[0]); // expect: 77
    }

    static void Cycles()
    {
        // Recursion, and two methods that call each other.
        var fact = new DynamicMethod("Fact", typeof(int), new[] { typeof(int) }, typeof(DynamicMethods));
        var il = fact.GetILGenerator();
        var end = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Brfalse, end);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Call, fact); il.Emit(OpCodes.Mul); il.Emit(OpCodes.Ret);
        il.MarkLabel(end); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Ret);
        Console.WriteLine(((Func<int, int>)fact.CreateDelegate(typeof(Func<int, int>)))(6)); // expect: 720
        var even = new DynamicMethod("Even", typeof(bool), new[] { typeof(int) }, typeof(DynamicMethods));
        var odd = new DynamicMethod("Odd", typeof(bool), new[] { typeof(int) }, typeof(DynamicMethods));
        foreach (var pair in new[] { Tuple.Create(even, odd, 1), Tuple.Create(odd, even, 0) }) {
            il = pair.Item1.GetILGenerator();
            end = il.DefineLabel();
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Brfalse, end);
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Call, pair.Item2); il.Emit(OpCodes.Ret);
            il.MarkLabel(end); il.Emit(OpCodes.Ldc_I4, pair.Item3); il.Emit(OpCodes.Ret);
        }
        var f = (Func<int, bool>)even.CreateDelegate(typeof(Func<int, bool>));
        Console.WriteLine(f(10) + " " + f(7)); // expect: True False
    }

    static void Exceptions()
    {
        var m = Make("Safe", typeof(string), new[] { typeof(object) }, il => {
            var result = il.DeclareLocal(typeof(string));
            il.BeginExceptionBlock();
            il.BeginExceptionBlock();
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString")); il.Emit(OpCodes.Stloc, result);
            il.BeginCatchBlock(typeof(NullReferenceException));
            il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldstr, "null"); il.Emit(OpCodes.Stloc, result);
            il.BeginCatchBlock(typeof(Exception));
            il.Emit(OpCodes.Callvirt, typeof(Exception).GetProperty("Message").GetGetMethod()); il.Emit(OpCodes.Stloc, result);
            il.EndExceptionBlock();
            il.BeginFinallyBlock();
            il.EmitWriteLine("finally");
            il.EndExceptionBlock();
            il.Emit(OpCodes.Ldloc, result); il.Emit(OpCodes.Ret); });
        Console.WriteLine(m.Invoke(null, new object[] { 5 }));
        // expect: finally
        // expect: 5
        Console.WriteLine(m.Invoke(null, new object[] { null }));
        // expect: finally
        // expect: null
        Console.WriteLine(m.Invoke(null, new object[] { new Bad() }));
        // expect: finally
        // expect: bad
        var filter = Make("Filter", typeof(int), new[] { typeof(Act) }, il => {
            var result = il.DeclareLocal(typeof(int));
            il.BeginExceptionBlock();
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, typeof(Act).GetMethod("Invoke"));
            il.BeginExceptFilterBlock();
            il.Emit(OpCodes.Isinst, typeof(ArgumentException)); il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Cgt_Un);
            il.BeginCatchBlock(null);
            il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldc_I4_7); il.Emit(OpCodes.Stloc, result);
            il.EndExceptionBlock();
            il.Emit(OpCodes.Ldloc, result); il.Emit(OpCodes.Ret); });
        var f = (Func<Act, int>)filter.CreateDelegate(typeof(Func<Act, int>));
        Console.WriteLine(f(() => { throw new ArgumentException(); })); // expect: 7
        try { f(() => { throw new FormatException("f"); }); } catch (FormatException e) { Console.WriteLine(e.Message); } // expect: f
        var thrower = Make("Thrower", typeof(void), new[] { typeof(string), typeof(int[]) }, il => {
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Newobj, typeof(Exception).GetConstructor(new[] { typeof(string) })); il.Emit(OpCodes.Throw); });
        try { ((Action<string, int[]>)thrower.CreateDelegate(typeof(Action<string, int[]>)))("t", null); }
        catch (Exception e) {
            Console.WriteLine(e.StackTrace.Split('\n')[0]); // expect:   at (wrapper dynamic-method) DynamicMethods.Thrower(string,int[])
            var frame = new System.Diagnostics.StackTrace(e).GetFrame(0);
            Console.WriteLine((frame.GetMethod() == null) + " " + frame.GetILOffset()); // expect: True 0
        }
    }
    class Bad { public override string ToString() { throw new InvalidOperationException("bad"); } }

    static void Main()
    {
        Basics();
        TokensOfEachKind();
        Cycles();
        Exceptions();
    }
}
