// An abort that a catch has caught is raised again behind it, and the catch around it gets it.
// tiers: all
using System;
using System.Threading;

static class AbortThroughCatches {
    static void Main() {
        try {
            try { Thread.CurrentThread.Abort("why"); } catch (Exception e) { Console.WriteLine("inner {0}", e.GetType().Name); } // expect: inner ThreadAbortException
            Console.WriteLine("not reached");
        } catch (ThreadAbortException e) {
            Console.WriteLine("outer {0} {1}", e.ExceptionState, Thread.CurrentThread.ThreadState); // expect: outer why AbortRequested
            Thread.ResetAbort();
        } finally { Console.WriteLine("finally"); } // expect: finally
        Console.WriteLine("end"); // expect: end
    }
}
