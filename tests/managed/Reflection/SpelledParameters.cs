// mcs: -unsafe -nowarn:626,649,169
// Names, tokens and attributes of generic parameters, of references to them and of pointers; what parameters of accessors of arrays are asked; bodies that nobody wrote.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

enum Hidden { A }
public enum Seen { A }
class Outer<T, U>
{
    public T Field;
    public class Inner<V> { protected class Deep { } }
    public void Method<Q, R>(ref Q q, Q[] a, List<Q> l, ref T t, List<T[]> ta, Dictionary<Q, int> d, Dictionary<List<Q>, T> dl, ref List<Q> rl, List<Q>[] la,
        Outer<T, int> o, Inner<Q> i, Outer<int, int>.Inner<T> oi, KeyValuePair<int, Q>? k, Action<Outer<Q, R>> ac, ref int ri) { }
}
abstract class Bodies
{
    public abstract void Abstract();
    public extern void Nobodys();
    [MethodImpl(MethodImplOptions.InternalCall)] public extern void Internal();
    public void Body() { }
}

static class SpelledParameters
{
    static void Spell(Type type)
    {
        Func<string, string> shorter = name => name == null ? "null" : name.Replace(", Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089", "").Replace(", Version=0.0.0.0, Culture=neutral, PublicKeyToken=null", "");
        Console.WriteLine(type + " | " + shorter(type.FullName) + " | " + shorter(type.AssemblyQualifiedName) + " | " + (type.MetadataToken == 0));
    }

    static void Main()
    {
        foreach (var type in new[] { typeof(Outer<,>), typeof(Outer<int, string>) })
            foreach (var parameter in type.GetMethod("Method").GetParameters())
                Spell(parameter.ParameterType);
        foreach (var type in typeof(Outer<,>.Inner<>).GetGenericArguments().Concat(typeof(Outer<,>).GetMethod("Method").GetGenericArguments()))
            Spell(type);
        var deep = typeof(Outer<,>.Inner<>).GetNestedTypes(BindingFlags.NonPublic)[0];
        foreach (var type in new[] { typeof(Hidden*), typeof(Seen*), typeof(int*), typeof(Hidden**), deep.MakePointerType(), typeof(Hidden).MakeByRefType(), typeof(Hidden*).MakeByRefType(), typeof(Hidden*[]) })
            Console.WriteLine(type + " | " + type.Attributes + " | " + type.IsPublic + type.IsNotPublic + type.IsVisible);
        foreach (var type in new[] { typeof(int[,]), typeof(string[]) })
            foreach (var method in type.GetMethods(BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.Instance).Cast<MethodBase>().Concat(type.GetConstructors()))
            {
                Console.Write(" " + (int)method.GetMethodImplementationFlags() + " ");
                foreach (var parameter in method.GetParameters())
                    Console.Write(parameter.GetRequiredCustomModifiers().Length + parameter.GetOptionalCustomModifiers().Length + parameter.MetadataToken + parameter.GetCustomAttributesData().Count);
            }
        Console.WriteLine();
        foreach (var method in typeof(Bodies).GetMethods(BindingFlags.DeclaredOnly | BindingFlags.Public | BindingFlags.Instance))
            try { Console.WriteLine(method.Name + " " + (method.GetMethodBody() == null)); }
            catch (BadImageFormatException e) { Console.WriteLine(method.Name + " " + e.Message); }
    }
}
