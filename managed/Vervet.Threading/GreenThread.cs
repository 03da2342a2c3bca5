using System;
using System.Threading;
using System.Threading.Tasks;

namespace Vervet.Threading
{
    /// <summary>The running green thread, and starting further ones.</summary>
    /// <remarks>Nothing here throws on a thread that is not green, nor on a runtime without green threads: there, each member
    /// does what comes closest.</remarks>
    public static class GreenThread
    {
        /// <summary>The name of the running thread, for traces and dumps. It can be changed as often as one likes.</summary>
        public static string Name
        {
            get { return Thread.CurrentThread.Name; }
            set
            {
                if (Scheduler.IsSupported)
                    Native.Name(value);
                else if (Thread.CurrentThread.Name == null)
                    Thread.CurrentThread.Name = value;
            }
        }

        /// <summary>Puts the running green thread behind all that can run. On another thread it is Thread.Yield.</summary>
        public static bool Yield()
        {
            return Thread.Yield();
        }

        /// <summary>Runs an action on a green thread of its own, as Task.RunAsGreenThread does.</summary>
        public static Task Run(Action action, GreenThreadOptions options)
        {
            var work = new Work(action, options);
            if (Start == null)
                return Task.Run(new Action(work.Run), work.Token);
            return Start(work.Run, work.Token);
        }

        /// <summary>Runs a function on a green thread of its own; its result is the task's.</summary>
        public static Task<TResult> Run<TResult>(Func<TResult> function, GreenThreadOptions options)
        {
            var work = new Work<TResult>(function, options);
            if (StartFunction<TResult>.Start == null)
                return Task.Run(new Func<TResult>(work.Run), work.Token);
            return StartFunction<TResult>.Start(work.Run, work.Token);
        }

        // Task.RunAsGreenThread is a graft, which the core library of compilers does not have.
        static readonly Func<Action, CancellationToken, Task> Start = FindStart();

        static Func<Action, CancellationToken, Task> FindStart()
        {
            var method = typeof(Task).GetMethod("RunAsGreenThread", new[] { typeof(Action), typeof(CancellationToken) });
            if (method == null)
                return null;
            return (Func<Action, CancellationToken, Task>)Delegate.CreateDelegate(typeof(Func<Action, CancellationToken, Task>), method);
        }

        static class StartFunction<TResult>
        {
            internal static readonly Func<Func<TResult>, CancellationToken, Task<TResult>> Start = FindStart();

            static Func<Func<TResult>, CancellationToken, Task<TResult>> FindStart()
            {
                foreach (var method in typeof(Task).GetMethods()) {
                    if (method.Name == "RunAsGreenThread" && method.IsGenericMethodDefinition && method.GetParameters().Length == 2)
                        return (Func<Func<TResult>, CancellationToken, Task<TResult>>)Delegate.CreateDelegate(
                            typeof(Func<Func<TResult>, CancellationToken, Task<TResult>>), method.MakeGenericMethod(typeof(TResult)));
                }
                return null;
            }
        }

        /// <summary>Applies options to the running thread, which has just begun.</summary>
        internal static void Apply(GreenThreadOptions options)
        {
            if (options == null || Start == null)
                return;
            if (options.Name != null)
                Native.Name(options.Name);
            if (options.StackHint > 0 || options.MaxStack > 0)
                Native.Stack(options.StackHint, options.MaxStack);
        }

        sealed class Work
        {
            readonly Action action;
            readonly GreenThreadOptions options;

            internal Work(Action action, GreenThreadOptions options)
            {
                if (action == null)
                    throw new ArgumentNullException("action");
                this.action = action;
                this.options = options;
            }

            internal CancellationToken Token
            {
                get { return options == null ? CancellationToken.None : options.CancellationToken; }
            }

            internal void Run()
            {
                Apply(options);
                action();
            }
        }

        sealed class Work<TResult>
        {
            readonly Func<TResult> function;
            readonly GreenThreadOptions options;

            internal Work(Func<TResult> function, GreenThreadOptions options)
            {
                if (function == null)
                    throw new ArgumentNullException("function");
                this.function = function;
                this.options = options;
            }

            internal CancellationToken Token
            {
                get { return options == null ? CancellationToken.None : options.CancellationToken; }
            }

            internal TResult Run()
            {
                Apply(options);
                return function();
            }
        }
    }
}
