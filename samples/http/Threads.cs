// The server with a thread of the operating system for each connection: the same code as on green threads, and at some thousands of
// connections an end to memory or to the limit of threads.
using System.Threading;

static class Threads
{
    static void Main(string[] args)
    {
        var listener = Http.Listen(args);
        while (true) {
            var connection = listener.Accept();
            new Thread(() => Sync.Serve(connection), 128 << 10) { IsBackground = true }.Start();
        }
    }
}
