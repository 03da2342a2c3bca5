using System.Threading;

namespace Vervet.Threading
{
    /// <summary>The scheduler of green threads.</summary>
    public static class Scheduler
    {
        /// <summary>Whether the runtime has green threads.</summary>
        internal static readonly bool IsSupported = typeof(Thread).GetProperty("IsGreenThread") != null;

        /// <summary>How many green threads run at once; 0 on a runtime without green threads. OS threads that are held in native
        /// code are not counted.</summary>
        public static int Carriers
        {
            get { return (int)Figures()[0]; }
        }

        /// <summary>What the scheduler has done and has to do. All zero on a runtime without green threads.</summary>
        public static SchedulerStatistics GetStatistics()
        {
            return new SchedulerStatistics(Figures());
        }

        static long[] Figures()
        {
            var figures = new long[SchedulerStatistics.Count];
            if (IsSupported)
                Native.Figures(figures);
            return figures;
        }
    }
}
