using System;
using System.Threading;
using System.Threading.Tasks;

namespace Vervet.Grafts
{
    /// <summary>
    /// Members of System.Threading.Tasks.Task that run code on a green thread. Each pair of names means the same.
    /// </summary>
    /// <remarks>
    /// As with Task.Run, the task denies attaching to it, and code in it that starts tasks finds the default scheduler, not
    /// this one. Exceptions, cancellation and the flow of the ExecutionContext are those of any task.
    /// </remarks>
    [GraftOnto("mscorlib", "System.Threading.Tasks.Task")]
    static class TaskGraft
    {
        /// <summary>Runs an action on a green thread of its own.</summary>
        public static Task RunAsGreenThread(Action action)
        {
            return Start(action, CancellationToken.None);
        }

        /// <summary>As above; the task is cancelled if the token is before the action begins.</summary>
        public static Task RunAsGreenThread(Action action, CancellationToken cancellationToken)
        {
            return Start(action, cancellationToken);
        }

        /// <summary>Runs a function on a green thread of its own; its result is the task's.</summary>
        public static Task<TResult> RunAsGreenThread<TResult>(Func<TResult> function)
        {
            return Start(function, CancellationToken.None);
        }

        /// <summary>As above; the task is cancelled if the token is before the function begins.</summary>
        public static Task<TResult> RunAsGreenThread<TResult>(Func<TResult> function, CancellationToken cancellationToken)
        {
            return Start(function, cancellationToken);
        }

        /// <summary>The same as RunAsGreenThread.</summary>
        public static Task RunOnGreenThread(Action action)
        {
            return Start(action, CancellationToken.None);
        }

        /// <summary>The same as RunAsGreenThread.</summary>
        public static Task RunOnGreenThread(Action action, CancellationToken cancellationToken)
        {
            return Start(action, cancellationToken);
        }

        /// <summary>The same as RunAsGreenThread.</summary>
        public static Task<TResult> RunOnGreenThread<TResult>(Func<TResult> function)
        {
            return Start(function, CancellationToken.None);
        }

        /// <summary>The same as RunAsGreenThread.</summary>
        public static Task<TResult> RunOnGreenThread<TResult>(Func<TResult> function, CancellationToken cancellationToken)
        {
            return Start(function, cancellationToken);
        }

        const TaskCreationOptions Options = TaskCreationOptions.DenyChildAttach | TaskCreationOptions.HideScheduler;

        // The factory, and not a constructor with Start: Start throws if the token was cancelled meanwhile.
        static Task Start(Action action, CancellationToken cancellationToken)
        {
            return Task.Factory.StartNew(action, cancellationToken, Options, GreenScheduler.Instance);
        }

        static Task<TResult> Start<TResult>(Func<TResult> function, CancellationToken cancellationToken)
        {
            return Task<TResult>.Factory.StartNew(function, cancellationToken, Options, GreenScheduler.Instance);
        }
    }
}
