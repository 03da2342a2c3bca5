using System.Runtime.CompilerServices;

namespace Vervet.Threading
{
    /// <summary>What the runtime does for this assembly.</summary>
    /// <remarks>Mono complains of an internal call that it does not have when it compiles a method that makes the call, though
    /// that is never made. So each has a method of its own, which only Vervet compiles.</remarks>
    static class Native
    {
        /// <summary>Names the running thread, whatever its name was.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Name(string name)
        {
            SetName(name);
        }

        /// <summary>Chooses the size of the next segment of the running thread's stack, and the most bytes of the whole. 0 or less
        /// chooses nothing.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Stack(long hint, long most)
        {
            SetStack(hint, most);
        }

        /// <summary>Writes the figures: the carriers, and then those of SchedulerStatistics in the order of its properties.</summary>
        [MethodImpl(MethodImplOptions.NoInlining)]
        internal static void Figures(long[] figures)
        {
            Read(figures);
        }

        [MethodImpl(MethodImplOptions.InternalCall)]
        static extern void SetName(string name);

        [MethodImpl(MethodImplOptions.InternalCall)]
        static extern void SetStack(long hint, long most);

        [MethodImpl(MethodImplOptions.InternalCall)]
        static extern void Read(long[] figures);
    }
}
