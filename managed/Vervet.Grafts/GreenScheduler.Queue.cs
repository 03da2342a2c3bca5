using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Vervet
{
    partial class GreenScheduler
    {
        /// <summary>Starts a green thread that calls <c>scheduler.Run(task)</c>.</summary>
        [MethodImpl(MethodImplOptions.InternalCall)]
        static extern void Queue(GreenScheduler scheduler, Task task);
    }
}
