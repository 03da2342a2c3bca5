// The server with a green thread for each connection: blocking code, and as many connections as async code has.
using System.Threading.Tasks;

static class Green
{
    static void Main(string[] args)
    {
        var listener = Http.Listen(args);
        while (true) {
            var connection = listener.Accept();
            Task.RunAsGreenThread(() => Sync.Serve(connection));
        }
    }
}
