// The methods of an interface map are seen from the class that was asked; a property hides none that is static where it is not.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

interface IGeneric<T> { void Method(T argument); }
class GenericBase<T> : IGeneric<T> { public void Method(T argument) { } }
class Mapped : GenericBase<object>, IGeneric<string> { public void Method(string argument) { } }

class Above
{
    public int Same { get; private set; }
    public static int SameStatic { get; private set; }
    public int InstanceThenStatic { get; private set; }
    public static int StaticThenInstance { get; private set; }
    public string Other { get; private set; }
}
class Below : Above
{
    public new int Same { get; private set; }
    public new static int SameStatic { get; private set; }
    public new static int InstanceThenStatic { get; private set; }
    public new int StaticThenInstance { get; private set; }
    public new double Other { get; private set; }
}

static class InterfaceMapAndHiding
{
    static void Main()
    {
        var target = typeof(Mapped).GetInterfaceMap(typeof(IGeneric<object>)).TargetMethods[0];
        Console.WriteLine(target.DeclaringType + " " + target.ReflectedType + " " + target.Equals(typeof(Mapped).GetMethod("Method", new[] { typeof(object) })));
        // expect: GenericBase`1[System.Object] Mapped True
        target = typeof(Mapped).GetInterfaceMap(typeof(IGeneric<string>)).TargetMethods[0];
        Console.WriteLine(target.DeclaringType + " " + target.ReflectedType);
        // expect: Mapped Mapped
        const BindingFlags all = BindingFlags.Public | BindingFlags.Instance | BindingFlags.Static | BindingFlags.FlattenHierarchy;
        foreach (var property in typeof(Below).GetProperties(all)) Console.WriteLine(property.DeclaringType.Name + "." + property.Name);
        // expect: Below.Same
        // expect: Below.SameStatic
        // expect: Below.InstanceThenStatic
        // expect: Below.StaticThenInstance
        // expect: Below.Other
        // expect: Above.InstanceThenStatic
        // expect: Above.StaticThenInstance
        // expect: Above.Other
    }
}
