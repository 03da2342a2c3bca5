// A finalizer of the last round takes something away from a thread, which throws: that is not the end of the program, which has ended already.
using System;
using System.Threading;

class Taken {
    public static readonly ManualResetEvent Gone = new ManualResetEvent(false);
    ~Taken() { Gone.Set(); Thread.Sleep(200); }
}
static class ThrowsAtTheEnd {
    static Taken held = new Taken();
    static void Main() {
        new Thread(() => { Taken.Gone.WaitOne(); throw new InvalidOperationException("taken away"); }) { IsBackground = true }.Start();
        Console.WriteLine(held != null); // expect: True
        Environment.Exit(0);
    }
}
