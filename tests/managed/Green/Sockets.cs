// grafts:
// A green thread for each connection, with ordinary blocking calls: accept, connect, receive, send, time-outs, closing under a waiting thread; and pipes.
using System;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class Sockets
{
    const int Clients = 300, Rounds = 20;

    static void Serve(TcpListener listener)
    {
        for (int i = 0; i < Clients; i++) {
            var client = listener.AcceptTcpClient();
            Task.RunAsGreenThread(() => {
                using (client) {
                    var stream = client.GetStream();
                    var buffer = new byte[100];
                    int n;
                    while ((n = stream.Read(buffer, 0, buffer.Length)) > 0) stream.Write(buffer, 0, n);
                }
            });
        }
    }

    static void Talk(int port, int me)
    {
        using (var client = new TcpClient()) {
            client.Connect(IPAddress.Loopback, port);
            var stream = client.GetStream();
            var sent = new byte[50];
            var got = new byte[50];
            for (int round = 0; round < Rounds; round++) {
                for (int i = 0; i < sent.Length; i++) sent[i] = (byte)(me + round + i);
                stream.Write(sent, 0, sent.Length);
                for (int n = 0; n < got.Length; ) {
                    int k = stream.Read(got, n, got.Length - n);
                    if (k == 0) throw new Exception("closed");
                    n += k;
                }
                if (!sent.SequenceEqual(got)) throw new Exception("other bytes");
            }
        }
    }

    static void Main()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(1000);
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        var server = Task.RunAsGreenThread(() => Serve(listener));
        Task.WaitAll(Enumerable.Range(0, Clients).Select(i => Task.RunAsGreenThread(() => Talk(port, i))).ToArray());
        server.Wait();
        Console.WriteLine("all heard their own words"); // expect: all heard their own words
        // Nobody held a carrier while it waited: there are 600 green threads. (A busy machine replaces carriers in short calls.)
        int threads = Process.GetCurrentProcess().Threads.Count;
        Console.WriteLine(threads < 200 ? "few OS threads" : threads + " OS threads"); // expect: few OS threads

        // A large message does not fit into the socket's buffer.
        var large = Task.RunAsGreenThread(() => {
            using (var client = listener.AcceptTcpClient()) {
                long sum = 0;
                var buffer = new byte[1 << 16];
                int n;
                while ((n = client.GetStream().Read(buffer, 0, buffer.Length)) > 0) sum += n;
                return sum;
            }
        });
        Task.RunAsGreenThread(() => {
            using (var client = new TcpClient("127.0.0.1", port)) client.GetStream().Write(new byte[20 << 20], 0, 20 << 20);
        }).Wait();
        Console.WriteLine(large.Result >> 20); // expect: 20

        using (var a = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp)) {
            a.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            a.ReceiveTimeout = 20;
            Console.WriteLine(Task.RunAsGreenThread(() => {
                try { a.Receive(new byte[10]); return "received"; } catch (SocketException e) { return e.SocketErrorCode.ToString(); }
            }).Result); // expect: WouldBlock
            a.ReceiveTimeout = 0;
            var begun = new ManualResetEvent(false);
            var waiting = Task.RunAsGreenThread(() => {
                begun.Set();
                try { a.Receive(new byte[10]); return "received"; } catch (Exception e) { return e.GetType().Name; }
            });
            begun.WaitOne();
            Thread.Sleep(20);
            a.Close();
            Console.WriteLine(waiting.Result); // expect: SocketException
        }
        using (var a = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp)) {
            a.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            a.Blocking = false;
            Console.WriteLine(Task.RunAsGreenThread(() => {
                try { a.Receive(new byte[10]); return "received"; } catch (SocketException e) { return e.SocketErrorCode.ToString(); }
            }).Result); // expect: WouldBlock
        }

        using (var there = new AnonymousPipeServerStream(PipeDirection.Out))
        using (var here = new AnonymousPipeClientStream(PipeDirection.In, there.ClientSafePipeHandle)) {
            var read = Task.RunAsGreenThread(() => here.ReadByte());
            Thread.Sleep(10);
            there.WriteByte(77);
            Console.WriteLine(read.Result); // expect: 77
        }
    }
}
