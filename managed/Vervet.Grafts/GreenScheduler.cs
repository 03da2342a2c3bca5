using System.Collections.Generic;
using System.Threading.Tasks;
using Vervet.Grafts;

namespace Vervet
{
    /// <summary>Runs each task on a green thread of its own.</summary>
    /// <remarks>The runtime makes the threads: <c>Queue</c> asks for one, and <c>Run</c> is what that thread does.</remarks>
    sealed partial class GreenScheduler : TaskScheduler
    {
        /// <summary>The only one.</summary>
        internal static readonly GreenScheduler Instance = new GreenScheduler();

        GreenScheduler()
        {
        }

        /// <summary>Has a green thread call <c>Run</c>. Throws OutOfMemoryException if there can be no further one.</summary>
        protected override void QueueTask(Task task)
        {
            Queue(this, task);
        }

        /// <summary>What the green thread runs. The task keeps the exceptions of its code; one of the scheduler's own is
        /// unhandled.</summary>
        void Run(Task task)
        {
            TryExecuteTask(task);
        }

        /// <summary>A green thread that waits for a task which has not begun runs it itself; an OS thread does not, because
        /// the task's code was promised a green one.</summary>
        protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued)
        {
            return ThreadGraft.IsGreenThread && TryExecuteTask(task);
        }

        /// <summary>For debuggers. The tasks are in the runtime's queues.</summary>
        protected override IEnumerable<Task> GetScheduledTasks()
        {
            return null;
        }
    }
}
