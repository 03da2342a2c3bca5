// Who has joined a thread finds the mutexes it held abandoned, and never still held.
using System;
using System.Threading;

static class AbandonedAtOnce
{
    static void Main()
    {
        int abandoned = 0, held = 0;
        for (int i = 0; i < 300; i++)
        {
            var mutex = new Mutex();
            var thread = new Thread(() => mutex.WaitOne());
            thread.Start();
            thread.Join();
            try { if (!mutex.WaitOne(0)) held++; }
            catch (AbandonedMutexException) { abandoned++; }
        }
        Console.WriteLine("abandoned " + abandoned + ", held " + held);  // expect: abandoned 300, held 0
    }
}
