// The servers of samples/http find requests however their bytes arrive, and answer each. `Ask` sends pieces over a connection of its
// own, which a thread serves, and gives all that comes back.
// mcs: -main:HttpRequests samples/http/Sync.cs samples/http/Http.cs
using System;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;

static class HttpRequests
{
    static string Ask(params string[] pieces)
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using (var client = new TcpClient()) {
            client.NoDelay = true;
            client.Connect(IPAddress.Loopback, ((IPEndPoint)listener.LocalEndpoint).Port);
            var server = listener.AcceptSocket();
            listener.Stop();
            var thread = new Thread(() => Sync.Serve(server));
            thread.Start();
            var stream = client.GetStream();
            foreach (string piece in pieces) {
                stream.Write(Encoding.ASCII.GetBytes(piece), 0, piece.Length);
                Thread.Yield();
            }
            client.Client.Shutdown(SocketShutdown.Send);
            var all = new StringBuilder();
            var buffer = new byte[4096];
            int count;
            while ((count = stream.Read(buffer, 0, buffer.Length)) > 0) all.Append(Encoding.ASCII.GetString(buffer, 0, count));
            thread.Join();
            return all.ToString();
        }
    }

    static void Show(params string[] pieces)
    {
        string answers = Ask(pieces);
        int hello = answers.Split(new[] { "\r\n\r\nHello, World!" }, StringSplitOptions.None).Length - 1;
        int unknown = answers.Split(new[] { "HTTP/1.1 404 Not Found\r\n" }, StringSplitOptions.None).Length - 1;
        Console.WriteLine(hello + " " + unknown);
    }

    static void Main()
    {
        const string Get = "GET /plaintext HTTP/1.1\r\nHost: x\r\n\r\n";
        Console.WriteLine(Ask(Get).Replace("\r\n", "|")); // expect: HTTP/1.1 200 OK|Server: sample|Content-Type: text/plain|Content-Length: 13||Hello, World!
        Show(Get + Get + Get); // expect: 3 0
        Show(Get.Select(c => c.ToString()).ToArray()); // expect: 1 0
        Show(Get, "GET /other HTTP/1.1\r\n\r\n", Get); // expect: 2 1
        Show(Get.Substring(0, 30)); // expect: 0 0
        // A body is no request.
        Show("POST /plaintext HTTP/1.1\r\ncontent-length: " + Get.Length + "\r\n\r\n" + Get + Get); // expect: 2 0
        // The first ends the connection.
        Show("GET /plaintext HTTP/1.1\r\nConnection: close\r\n\r\n" + Get); // expect: 1 0
        Show("GET /plaintext HTTP/1.0\r\n\r\n" + Get); // expect: 1 0
        Show("GET /plaintext HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + Get); // expect: 2 0
        // Longer than the room that there is at first.
        Show("GET /plaintext HTTP/1.1\r\nCookie: " + new string('c', 100000) + "\r\n\r\n" + Get); // expect: 2 0
        Show("nonsense\r\n\r\n" + Get); // expect: 0 0
    }
}
