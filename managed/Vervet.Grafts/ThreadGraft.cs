using System.Runtime.CompilerServices;

namespace Vervet.Grafts
{
    /// <summary>Members of System.Threading.Thread.</summary>
    [GraftOnto("mscorlib", "System.Threading.Thread")]
    static class ThreadGraft
    {
        /// <summary>Whether the code that asks runs on a green thread.</summary>
        public static extern bool IsGreenThread
        {
            [MethodImpl(MethodImplOptions.InternalCall)]
            get;
        }
    }
}
