// Array.SetValue into an array of Nullables takes numbers and enums of any type, by their bytes, as mono does.
using System;

enum Short : short { A = 3 }
enum Int { A = 5 }

static class SetValueNullable
{
    static void Set<T>(T?[] array, object value) where T : struct
    {
        try { array.SetValue(value, 0); Console.WriteLine(array[0].HasValue ? array[0].ToString() : "none"); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name); }
    }
    static void Main()
    {
        Set(new short?[1], Short.A); // expect: 3
        Set(new short?[1], (short)4); // expect: 4
        Set(new short?[1], (byte)4); // expect: 4
        Set(new short?[1], 4); // expect: 4
        Set(new short?[1], Int.A); // expect: 5
        Set(new int?[1], Int.A); // expect: 5
        Set(new Short?[1], (short)3); // expect: A
        Set(new Short?[] { Short.A }, null); // expect: none
    }
}
