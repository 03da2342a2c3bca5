// Malformed IL of a dynamic method is reported when the method is called, and harms nothing else.
using System;
using System.Reflection.Emit;

class MalformedBodies
{
    delegate void Act();
    static void Main()
    {
        Try("empty", il => { }); // expect: empty: InvalidOperationException
        Try("underflow", il => { il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ret); }); // expect: underflow: InvalidProgramException
        Try("bad branch", il => { il.Emit(OpCodes.Br, 1000); }); // expect: bad branch: InvalidProgramException
        Try("no local", il => { il.Emit(OpCodes.Ldloc_3); il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ret); }); // expect: no local: InvalidProgramException
        Try("no argument", il => { il.Emit(OpCodes.Ldarg_2); il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ret); }); // expect: no argument: InvalidProgramException
        Try("good", il => { il.Emit(OpCodes.Ret); }); // expect: good: ran
    }
    static void Try(string what, Action<ILGenerator> body)
    {
        try {
            var m = new DynamicMethod("Malformed", typeof(void), Type.EmptyTypes, typeof(MalformedBodies));
            body(m.GetILGenerator());
            ((Act)m.CreateDelegate(typeof(Act)))();
            Console.WriteLine(what + ": ran");
        } catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
}
