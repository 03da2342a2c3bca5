// An item of the pool in one domain waits for items in another: the workers that run the first serve no other domain meanwhile.
// expect: root: 8 items in the other domain, 8 answers
// expect: root: 8 items in the other domain, 8 answers
using System;
using System.Threading;

public class Answers : MarshalByRefObject {
    // Runs in the other domain, on a worker of the pool, and waits for an item of this domain's queue.
    public int Ask (int number) {
        int answer = -1;
        var done = new ManualResetEvent (false);
        ThreadPool.QueueUserWorkItem (state => {
            answer = (int) state * 2;
            done.Set ();
        }, number);
        return done.WaitOne (20000) ? answer : -1;
    }
}

public static class Program {
    static void Round () {
        var other = AppDomain.CreateDomain ("other");
        var answers = (Answers) other.CreateInstanceAndUnwrap (typeof (Answers).Assembly.FullName, "Answers");
        const int Items = 8;
        int right = 0, left = Items;
        var end = new ManualResetEvent (false);
        for (int i = 0; i < Items; i++) {
            ThreadPool.QueueUserWorkItem (state => {
                for (int k = 0; k < 50; k++) {
                    if (answers.Ask (k) != 2 * k)
                        break;
                    if (k == 49)
                        Interlocked.Increment (ref right);
                }
                if (Interlocked.Decrement (ref left) == 0)
                    end.Set ();
            });
        }
        end.WaitOne ();
        Console.WriteLine ("root: {0} items in the other domain, {1} answers", Items, right);
        AppDomain.Unload (other);
    }

    public static void Main () {
        Round ();
        Round ();
    }
}
