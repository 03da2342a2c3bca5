namespace Vervet.Threading
{
    /// <summary>What the scheduler of green threads has done since the process began, and what there is now.</summary>
    /// <remarks>The figures are read one after the other while threads run, so sums may be off by the threads that change.</remarks>
    public struct SchedulerStatistics
    {
        internal const int Count = 12;

        internal SchedulerStatistics(long[] figures) : this()
        {
            Started = figures[1];
            Ended = figures[2];
            Runnable = figures[3];
            Running = figures[4];
            Parked = figures[5];
            Switches = figures[6];
            Steals = figures[7];
            Preemptions = figures[8];
            PinnedParks = figures[9];
            ReplacementCarriers = figures[10];
            StackBytes = figures[11];
        }

        /// <summary>Green threads that were started.</summary>
        public long Started { get; private set; }

        /// <summary>Green threads that have ended.</summary>
        public long Ended { get; private set; }

        /// <summary>Green threads that could run and wait for a carrier, now.</summary>
        public long Runnable { get; private set; }

        /// <summary>Green threads that run, now. One in a long native call counts as parked.</summary>
        public long Running { get; private set; }

        /// <summary>Green threads that wait, now.</summary>
        public long Parked { get; private set; }

        /// <summary>Times that a carrier switched to a green thread.</summary>
        public long Switches { get; private set; }

        /// <summary>Times that a carrier took threads from the queue of another.</summary>
        public long Steals { get; private set; }

        /// <summary>Times that a green thread was made to let others run.</summary>
        public long Preemptions { get; private set; }

        /// <summary>Times that a green thread kept its carrier while it waited, or was in native code for long.</summary>
        public long PinnedParks { get; private set; }

        /// <summary>Times that another carrier took over because one was held.</summary>
        public long ReplacementCarriers { get; private set; }

        /// <summary>Bytes of address space of the managed stacks, of ended threads that are kept for the next ones, too. Only pages
        /// that were used take memory.</summary>
        public long StackBytes { get; private set; }
    }
}
