// The server with async and await: Sync.cs once more, in other words.
using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading.Tasks;

static class Async
{
    static async void Serve(Socket connection)
    {
        using (var stream = new NetworkStream(connection, true)) {
            try {
                connection.NoDelay = true;
                var requests = new Requests();
                while (true) {
                    Request request;
                    while (requests.TryTake(out request)) {
                        byte[] answer = Http.Respond(request);
                        await stream.WriteAsync(answer, 0, answer.Length).ConfigureAwait(false);
                        if (!request.KeepAlive) return;
                    }
                    int count = await stream.ReadAsync(requests.Bytes, requests.Offset, requests.Room).ConfigureAwait(false);
                    if (count == 0) return;
                    requests.Received(count);
                }
            }
            catch (IOException) { } // the client went away
            catch (ProtocolViolationException e) { Console.Error.WriteLine(e.Message); }
        }
    }

    static async Task Run(string[] args)
    {
        var listener = Http.Listen(args);
        while (true) {
            var connection = await Task.Factory.FromAsync(listener.BeginAccept, listener.EndAccept, null).ConfigureAwait(false);
            Serve(connection);
        }
    }

    static void Main(string[] args)
    {
        Run(args).Wait();
    }
}
