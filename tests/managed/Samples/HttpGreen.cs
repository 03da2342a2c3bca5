// The sample server on green threads answers 50 connections that are open at the same time, 20 requests each. The port is free when the
// test looks for one.
// mcs: -main:HttpGreen samples/http/Green.cs samples/http/Sync.cs samples/http/Http.cs
// grafts:
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

static class HttpGreen
{
    const int Requests = 20;

    static int FreePort()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        listener.Stop();
        return port;
    }

    static TcpClient Connect(int port)
    {
        while (true) {
            try { return new TcpClient("127.0.0.1", port); }
            catch (SocketException) { Thread.Sleep(10); } // it does not listen yet
        }
    }

    static int Ask(int port, CountdownEvent connected)
    {
        using (var client = Connect(port)) {
            connected.Signal();
            connected.Wait();
            var stream = client.GetStream();
            byte[] request = Encoding.ASCII.GetBytes("GET /plaintext HTTP/1.1\r\nHost: x\r\n\r\n"), buffer = new byte[1000];
            int right = 0;
            for (int i = 0; i < Requests; i++) {
                stream.Write(request, 0, request.Length);
                string answer = "";
                while (!answer.EndsWith("Hello, World!")) {
                    int count = stream.Read(buffer, 0, buffer.Length);
                    if (count == 0) return right;
                    answer += Encoding.ASCII.GetString(buffer, 0, count);
                }
                right++;
            }
            return right;
        }
    }

    static void Main()
    {
        int port = FreePort();
        var main = typeof(Green).GetMethod("Main", BindingFlags.Static | BindingFlags.NonPublic);
        var server = new Thread(() => main.Invoke(null, new object[] { new[] { port.ToString() } })) { IsBackground = true };
        var console = Console.Out;
        Console.SetOut(TextWriter.Null); // the server says where it is
        server.Start();
        var connected = new CountdownEvent(50);
        var clients = Enumerable.Range(0, 50).Select(i => Task.RunAsGreenThread(() => Ask(port, connected))).ToArray();
        int right = clients.Sum(c => c.Result);
        console.WriteLine(right + " answers"); // expect: 1000 answers
        Environment.Exit(0);
    }
}
