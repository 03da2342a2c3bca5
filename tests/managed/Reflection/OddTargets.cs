// What a call through reflection is made on, and what it is made with, where the box is not the value: the methods of Nullable on
// a box of its value, characters and numbers of their size, handles of other instantiations, frames before the first.
using System;
using System.Diagnostics;
using System.Reflection;

class Generic<T> { public static int Count; public T Value; }

static class Program
{
    public static int Code(char c) { return c; }
    public static void Change(ref char c) { c++; }
    static void Try(string what, Func<object> work)
    {
        try { Console.WriteLine(what + ": " + work()); }
        catch (TargetInvocationException e) { Console.WriteLine(what + ": within " + e.InnerException.GetType().Name); }
        catch (Exception e) { Console.WriteLine(what + ": " + e.GetType().Name); }
    }
    static void Main()
    {
        var nullable = typeof(long?);
        Try("value", () => nullable.GetProperty("Value").GetValue(5L, null));                                 // expect: value: 5
        Try("has", () => nullable.GetProperty("HasValue").GetValue(5L, null));                                // expect: has: True
        Try("or default", () => nullable.GetMethod("GetValueOrDefault", Type.EmptyTypes).Invoke(5L, null));   // expect: or default: 5
        Try("hash", () => nullable.GetMethod("GetHashCode").Invoke(5L, null));                                // expect: hash: 5
        Try("of a struct", () => typeof(DateTime?).GetProperty("Value").GetValue(new DateTime(7), null).Equals(new DateTime(7)));  // expect: of a struct: True
        Try("null", () => nullable.GetProperty("HasValue").GetValue(null, null));                             // expect: null: TargetException
        Try("other", () => nullable.GetProperty("HasValue").GetValue(5, null));                               // expect: other: TargetException
        var code = typeof(Program).GetMethod("Code");
        Try("number for a character", () => code.Invoke(null, new object[] { (ushort)65 }));                  // expect: number for a character: 65
        Try("byte for a character", () => code.Invoke(null, new object[] { (byte)65 }));                      // expect: byte for a character: 65
        Try("int for a character", () => code.Invoke(null, new object[] { 65 }));                             // expect: int for a character: ArgumentException
        var handle = typeof(Generic<int>).GetField("Value").FieldHandle;
        Try("own type", () => FieldInfo.GetFieldFromHandle(handle, typeof(Generic<int>).TypeHandle));         // expect: own type: System.Int32 Value
        Try("other instantiation", () => FieldInfo.GetFieldFromHandle(handle, typeof(Generic<string>).TypeHandle));  // expect: other instantiation: ArgumentException
        Try("no constant", () => { try { return typeof(Generic<int>).GetField("Count").GetRawConstantValue(); } catch (InvalidOperationException e) { return e.Message; } });  // expect: no constant: Operation is not valid due to the current state of the object.
        Try("all frames skipped", () => new StackTrace(int.MaxValue).FrameCount);                             // expect: all frames skipped: 0
        Try("frame far away", () => new StackFrame(int.MaxValue - 5).GetMethod());                            // expect: frame far away: 
    }
}
