// Green threads that call a method whose count of calls is used up, while the one that compiles it again waits for a carrier: a call that the prestub
// has served must go on and reach the check for interrupts. Each time it was counted again, and came back to the prestub.
// env: VERVET_HOT_CALLS=1 VERVET_GREEN_THREADS=all
// gc-debug: no, it would take long
// expect: 3 threads of 3
using System;
using System.Threading;

public class Far : MarshalByRefObject
{
    // Long enough to be worth optimising.
    public string Many(string a, int n)
    {
        var text = a;
        for (int i = 0; i < n; i++)
        {
            text = text.Length > 20 ? text.Substring(10) : text + i;
            if (text.IndexOf('z') >= 0)
                text = text.Replace("z", "y") + a;
        }
        return text;
    }
}

class CountedCalls
{
    static void Main()
    {
        int ended = 0;
        for (int round = 0; round < 4; round++)
        {
            var far = (Far)AppDomain.CreateDomain("far").CreateInstanceAndUnwrap(typeof(Far).Assembly.FullName, "Far");
            ended = 0;
            var threads = new Thread[3];
            for (int i = 0; i < threads.Length; i++)
            {
                threads[i] = new Thread(() =>
                {
                    for (int k = 0; k < 60; k++)
                        far.Many("z" + k, 5);
                    Interlocked.Increment(ref ended);
                });
                threads[i].Start();
            }
            foreach (var thread in threads)
                thread.Join();
        }
        Console.WriteLine(ended + " threads of 3");
    }
}
