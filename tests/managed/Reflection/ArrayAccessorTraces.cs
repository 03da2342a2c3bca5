// An exception of an array's accessor that reflection calls has no frame of the accessor.
using System;
using System.Linq;
using System.Reflection;

static class ArrayAccessorTraces
{
    static void Show(Array array, string name, params object[] arguments)
    {
        Console.WriteLine(array.GetType() + " " + name);
        try { array.GetType().GetMethod(name).Invoke(array, arguments); }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.Message);
            foreach (string line in e.InnerException.StackTrace.Split('\n').Select(l => l.Split('[')[0].TrimEnd())) Console.WriteLine(line);
        }
    }
    static void Main()
    {
        Show(new int[2], "Get", 5);
        Show(new int[2], "Set", 5, 1);
        Show(new int[2, 2], "Get", 5, 1);
        Show(new string[2, 2], "Set", 1, 1, "text");
        Show(new string[2, 2], "Set", 1, 2, "text");
    }
}
