// CreateDelegate makes the code of a DynamicMethod: it throws what is wrong with the IL, and initialises the classes whose static fields the IL names
// if they have no constructor that says when.
using System;
using System.Reflection.Emit;

class Static
{
    public static int Value = 3;
    static Static() { Console.WriteLine("class constructor"); }
}

class Failing
{
    public static int Value = int.Parse("no number");
}

static class CompiledByCreateDelegate
{
    static void Try(string name, Action<ILGenerator> write)
    {
        var method = new DynamicMethod(name, typeof(int), new[] { typeof(int) }, typeof(CompiledByCreateDelegate).Module);
        write(method.GetILGenerator());
        try
        {
            var made = (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
            Console.WriteLine(name + " is made");
            Console.WriteLine(made(5));
        }
        catch (Exception e)
        {
            Console.WriteLine(name + ": " + e.GetType());
        }
    }

    static void Main()
    {
        Try("good", il => { il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ret); });
        // expect: good is made
        // expect: 5
        Try("empty stack", il => { il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret); });
        // expect: empty stack: System.InvalidProgramException
        Try("full stack", il => { il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ret); });
        // expect: full stack: System.InvalidProgramException
        Try("string for number", il => { il.Emit(OpCodes.Ldstr, "x"); il.Emit(OpCodes.Ret); });
        // expect: string for number: System.InvalidProgramException
        Try("no such argument", il => { il.Emit(OpCodes.Ldarg, 7); il.Emit(OpCodes.Ret); });
        // expect: no such argument: System.InvalidProgramException
        Try("static field", il => { il.Emit(OpCodes.Ldsfld, typeof(Static).GetField("Value")); il.Emit(OpCodes.Ret); });
        // expect: static field is made
        // expect: class constructor
        // expect: 3
        Try("static field of a class that fails", il => { il.Emit(OpCodes.Ldsfld, typeof(Failing).GetField("Value")); il.Emit(OpCodes.Ret); });
        // expect: static field of a class that fails: System.TypeInitializationException
        Try("null", il => { il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("GetHashCode")); il.Emit(OpCodes.Ret); });
        // expect: null is made
        // expect: null: System.NullReferenceException
    }
}
