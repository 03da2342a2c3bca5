using System.Threading;

namespace Vervet.Threading
{
    /// <summary>What can be chosen for a green thread that <see cref="GreenThread.Run(System.Action, GreenThreadOptions)"/>
    /// starts. Zero and null choose nothing.</summary>
    public sealed class GreenThreadOptions
    {
        /// <summary>The thread's name, for traces and dumps.</summary>
        public string Name { get; set; }

        /// <summary>Bytes of stack that the code is likely to use at its deepest. The stack then grows once, to that size.</summary>
        public long StackHint { get; set; }

        /// <summary>Bytes of stack beyond which StackOverflowException is thrown: at least 64 KiB, and not more than the
        /// process allows.</summary>
        public long MaxStack { get; set; }

        /// <summary>The task is cancelled if the token is before the code begins.</summary>
        public CancellationToken CancellationToken { get; set; }
    }
}
