// The members that the runtime adds to the core library.
// grafts:
// green: no, it prints whether the pool's threads are green
using System;
using System.Linq;
using System.Reflection;
using System.Threading;

static class Shipped
{
    static void Main()
    {
        Console.WriteLine(Thread.IsGreenThread); // expect: False
        bool other = true;
        var thread = new Thread(() => other = Thread.IsGreenThread);
        thread.Start();
        thread.Join();
        Console.WriteLine(other); // expect: False
        var property = typeof(Thread).GetProperty("IsGreenThread");
        Console.WriteLine(property + " of " + property.DeclaringType + ", " + property.Module); // expect: Boolean IsGreenThread of System.Threading.Thread, mscorlib.dll
        Console.WriteLine(property.GetValue(null) + " " + property.CanWrite); // expect: False False
        Console.WriteLine(property.GetMethod.IsStatic + " " + property.GetMethod.IsSpecialName); // expect: True True
        Console.WriteLine(typeof(Thread).GetProperties().Count(p => p.Name == "IsGreenThread")); // expect: 1
        Console.WriteLine(AppDomain.CurrentDomain.GetAssemblies().Any(a => a.GetName().Name.StartsWith("Vervet"))); // expect: False
    }
}
