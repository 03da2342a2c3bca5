// The attribute that shapes.cs wears, in a file of its own so that a mutated shapes.dll can be shown by code that is whole.
using System;

public enum Small : byte { A = 1, B = 2 }

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
public class Mark : Attribute {
    public Mark() { }
    public Mark(int n, string text, Type type, object boxed, Small small, params int[] list) { }
    public string Name { get; set; }
    public Type[] Types;
    public object Anything { get; set; }
}
