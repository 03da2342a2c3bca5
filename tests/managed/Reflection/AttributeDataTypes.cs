// The type of an attribute's argument as data: a constructor's object parameter shows the type of its value, an object field or property says object.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
public class NotedAttribute : Attribute
{
    public object Field;
    public object Property { get; set; }
    public DayOfWeek Day;
    public Type Type { get; set; }
    public int[] Numbers;
    public NotedAttribute(int n, object value) { }
}

[Noted(1, null)]
[Noted(2, "text")]
[Noted(3, typeof(int))]
[Noted(4, DayOfWeek.Friday)]
[Noted(5, new[] { 1, 2 })]
[Noted(6, null, Field = 5L, Property = DayOfWeek.Monday)]
[Noted(7, null, Field = new string[] { "a", null }, Property = 'c')]
[Noted(8, null, Field = null, Property = typeof(List<>))]
[Noted(9, null, Day = DayOfWeek.Friday, Type = typeof(string), Numbers = new[] { 3 })]
public static class AttributeDataTypes
{
    static string Text(CustomAttributeTypedArgument a)
    {
        var list = a.Value as IEnumerable<CustomAttributeTypedArgument>;
        var value = list == null ? a.Value ?? "null" : "{" + string.Join(";", list.Select(Text)) + "}";
        return a.ArgumentType + "=" + value;
    }
    static void Main()
    {
        var all = typeof(AttributeDataTypes).CustomAttributes.Where(d => d.AttributeType == typeof(NotedAttribute));
        foreach (var d in all.OrderBy(d => (int)d.ConstructorArguments[0].Value))
        {
            Console.WriteLine(d);
            Console.WriteLine("  " + Text(d.ConstructorArguments[1]) + " " + string.Join(" ", d.NamedArguments.Select(n => n.MemberName + ":" + Text(n.TypedValue))));
        }
    }
}
