// The notifications of full collections: what the framework does when they are not to be had, and wrong arguments.
using System;

static class FullNotification
{
    static string Try(Action a) { try { a(); return "nothing"; } catch (Exception e) { return e.GetType().Name; } }
    static void Main()
    {
        Console.WriteLine(Try(() => GC.RegisterForFullGCNotification(0, 10)));                 // expect: ArgumentOutOfRangeException
        Console.WriteLine(Try(() => GC.RegisterForFullGCNotification(10, 100)));               // expect: ArgumentOutOfRangeException
        Console.WriteLine(Try(() => GC.RegisterForFullGCNotification(10, 10)));                // expect: NotImplementedException
        Console.WriteLine(Try(() => Console.WriteLine(GC.WaitForFullGCApproach(0))));          // expect: NotImplementedException
        Console.WriteLine(Try(() => Console.WriteLine(GC.WaitForFullGCComplete(0))));          // expect: NotImplementedException
        Console.WriteLine(Try(() => GC.WaitForFullGCApproach(-2)));                            // expect: ArgumentOutOfRangeException
        Console.WriteLine(Try(() => GC.CancelFullGCNotification()));                           // expect: NotImplementedException
    }
}
