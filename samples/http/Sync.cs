// The code that serves a connection by blocking calls. Green.cs and Threads.cs run it, each on its kind of thread.
using System;
using System.Net;
using System.Net.Sockets;

static class Sync
{
    public static void Serve(Socket connection)
    {
        using (connection) {
            try {
                connection.NoDelay = true;
                var requests = new Requests();
                while (true) {
                    Request request;
                    while (requests.TryTake(out request)) {
                        connection.Send(Http.Respond(request));
                        if (!request.KeepAlive) return;
                    }
                    int count = connection.Receive(requests.Bytes, requests.Offset, requests.Room, SocketFlags.None);
                    if (count == 0) return;
                    requests.Received(count);
                }
            }
            catch (SocketException) { } // the client went away
            catch (ProtocolViolationException e) { Console.Error.WriteLine(e.Message); }
        }
    }
}
