// Another thread changes the array of arguments during calls through reflection: what does not fit the parameter is an ArgumentException, and no failure of the method.
using System;
using System.Diagnostics;
using System.Reflection;
using System.Threading;

static class ArgumentsChange
{
    public static int Second(string text, int number) { return number; }

    static void Main()
    {
        MethodInfo method = typeof(ArgumentsChange).GetMethod("Second");
        object[] arguments = { "abc", 3 };
        object[] offered = { "abc", new object(), new byte[3], null };
        bool stop = false;
        var writer = new Thread(() => { for (int i = 0; !Volatile.Read(ref stop); i++) arguments[0] = offered[i % offered.Length]; });
        writer.Start();
        int made = 0, wrapped = 0;
        for (var time = Stopwatch.StartNew(); time.ElapsedMilliseconds < 1500; )
        {
            try { if ((int)method.Invoke(null, arguments) == 3) made++; }
            catch (ArgumentException) { }
            catch (TargetInvocationException) { wrapped++; }
        }
        Volatile.Write(ref stop, true);
        writer.Join();
        Console.WriteLine(made > 0); // expect: True
        Console.WriteLine(wrapped); // expect: 0
    }
}
