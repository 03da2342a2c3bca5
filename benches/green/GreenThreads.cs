// How a bench starts green threads. The method is looked up by its name, so that one program runs where there is none, too.
using System;
using System.Threading.Tasks;

static class GreenThreads
{
    // Task.RunAsGreenThread, or null.
    static readonly Func<Action, Task> start = Find();

    static Func<Action, Task> Find()
    {
        var method = typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action) });
        return method == null ? null : (Func<Action, Task>)Delegate.CreateDelegate(typeof(Func<Action, Task>), method);
    }

    public static Task Run(Action action)
    {
        if (start == null) {
            Console.Error.WriteLine("needs Task.RunAsGreenThread, which this runtime does not have");
            Environment.Exit(3);
        }
        return start(action);
    }
}
