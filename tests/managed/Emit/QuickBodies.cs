// tiers: all
using System;
using System.Reflection.Emit;

// A dynamic method does the same before and after it has been compiled for speed: casts, allocations, stores to arrays, also in protected regions.
static class QuickBodies
{
    static T Make<T>(Type ret, Type[] args, Action<ILGenerator> body) where T : class
    {
        var m = new DynamicMethod("made", ret, args, typeof(QuickBodies).Module, true);
        body(m.GetILGenerator());
        return (T)(object)m.CreateDelegate(typeof(T));
    }
    static string Of(Func<object> f)
    {
        try { var o = f(); return o == null ? "null" : o.GetType().Name; }
        catch (Exception e) { return e.GetType().Name; }
    }

    static void Main()
    {
        var obj = new[] { typeof(object) };
        var cast = Make<Func<object, object>>(typeof(object), obj, g => { g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Castclass, typeof(string)); g.Emit(OpCodes.Ret); });
        var isinst = Make<Func<object, object>>(typeof(object), obj, g => { g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Isinst, typeof(IComparable)); g.Emit(OpCodes.Ret); });
        var array = Make<Func<int, object>>(typeof(object), new[] { typeof(int) }, g => { g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Newarr, typeof(string)); g.Emit(OpCodes.Ret); });
        var fixedArray = Make<Func<int, object>>(typeof(object), new[] { typeof(int) }, g => { g.Emit(OpCodes.Ldc_I4, -1); g.Emit(OpCodes.Newarr, typeof(int)); g.Emit(OpCodes.Ret); });
        var store = Make<Func<object, object>>(typeof(object), obj, g => {
            g.DeclareLocal(typeof(object));
            var end = g.BeginExceptionBlock();
            g.Emit(OpCodes.Ldc_I4_1); g.Emit(OpCodes.Newarr, typeof(Version)); g.Emit(OpCodes.Stloc_0);
            g.Emit(OpCodes.Ldloc_0); g.Emit(OpCodes.Ldc_I4_0); g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Stelem_Ref);
            g.BeginCatchBlock(typeof(ArrayTypeMismatchException));
            g.Emit(OpCodes.Stloc_0);
            g.EndExceptionBlock();
            g.Emit(OpCodes.Ldloc_0); g.Emit(OpCodes.Ret);
        });
        var boxed = Make<Func<object, object>>(typeof(object), obj, g => {
            g.Emit(OpCodes.Ldarg_0); g.Emit(OpCodes.Unbox_Any, typeof(int)); g.Emit(OpCodes.Conv_I8); g.Emit(OpCodes.Box, typeof(long)); g.Emit(OpCodes.Ret);
        });
        string before = null;
        for (int i = 0; i < 20000; i++) {
            string all = string.Join(" ", Of(() => cast("x")), Of(() => cast(1)), Of(() => cast(null)), Of(() => isinst("x")), Of(() => isinst(new object())), Of(() => isinst(null)),
                Of(() => array(3)), Of(() => array(-1)), Of(() => fixedArray(0)), Of(() => store(new Version())), Of(() => store("x")), Of(() => store(null)),
                Of(() => boxed(5)), Of(() => boxed("x")), Of(() => boxed(null)));
            if (all != before) Console.WriteLine(all);
            before = all;
            if (i == 100) i = 15000;
        }
        // expect: String InvalidCastException null String null null String[] OverflowException OverflowException Version[] ArrayTypeMismatchException Version[] Int64 InvalidCastException NullReferenceException
    }
}
