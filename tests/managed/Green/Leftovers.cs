// grafts:
// What one green thread leaves behind does not meet the next one, and background threads that compute are aborted at the end of the program.
using System;
using System.Threading;
using System.Threading.Tasks;

class Leftovers {
    static long x;

    static void Main() {
        Thread last = null;
        Task.RunAsGreenThread(() => { last = Thread.CurrentThread; }).Wait();
        Thread.Sleep(50);
        last.Interrupt();
        for (int i = 0; i < 4; i++) {
            var task = Task.RunAsGreenThread(() => Thread.Sleep(10));
            try { task.Wait(); Console.WriteLine("slept"); }
            catch (AggregateException e) { Console.WriteLine(e.InnerException.GetType()); }
        }
        Task.RunAsGreenThread(() => {
            try { for (;;) x++; }
            finally { Console.WriteLine("aborted at the end"); }
        });
        Thread.Sleep(100);
    }
}
