// What a message and its echo cost over loopback, for the whole process: both ends are in it. One program, two ways to wait:
// `sync` has a thread at each end of each connection, `async` awaits tasks of NetworkStream. Connecting is not measured.
//
//   Echo sync|async CONNECTIONS ROUNDTRIPS    (in all)
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class Echo
{
    const int Size = 64;

    static TcpClient[] clients, servers;

    static void Connect(int connections)
    {
        clients = new TcpClient[connections];
        servers = new TcpClient[connections];
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(128);
        var end = (IPEndPoint)listener.LocalEndpoint;
        for (int i = 0; i < connections; i++) {
            clients[i] = new TcpClient();
            clients[i].Connect(end.Address, end.Port);
            servers[i] = listener.AcceptTcpClient();
            clients[i].NoDelay = servers[i].NoDelay = true;
        }
        listener.Stop();
    }

    static void Receive(Socket s, byte[] message)
    {
        for (int n = 0; n < Size; ) {
            int got = s.Receive(message, n, Size - n, SocketFlags.None);
            Bench.Check(got > 0, "the connection ended");
            n += got;
        }
    }
    static void ServeSync(Socket s, int rounds)
    {
        var message = new byte[Size];
        for (int i = 0; i < rounds; i++) {
            Receive(s, message);
            s.Send(message, Size, SocketFlags.None);
        }
    }
    static void AskSync(Socket s, int rounds)
    {
        var message = new byte[Size];
        for (int i = 0; i < rounds; i++) {
            message[0] = (byte)i;
            s.Send(message, Size, SocketFlags.None);
            message[0]++;
            Receive(s, message);
            Bench.Check(message[0] == (byte)i, "another message came back");
        }
    }
    static double Sync(int connections, int rounds)
    {
        var all = new Thread[2 * connections];
        using (var go = new ManualResetEvent(false))
        using (var ready = new CountdownEvent(all.Length)) {
            for (int i = 0; i < connections; i++) {
                Socket server = servers[i].Client, client = clients[i].Client;
                all[2 * i] = new Thread(() => { ready.Signal(); go.WaitOne(); ServeSync(server, rounds); }, 128 << 10);
                all[2 * i + 1] = new Thread(() => { ready.Signal(); go.WaitOne(); AskSync(client, rounds); }, 128 << 10);
            }
            foreach (var t in all) t.Start();
            ready.Wait();
            return Bench.Seconds(() => {
                go.Set();
                foreach (var t in all) t.Join();
            });
        }
    }

    static async Task ReceiveAsync(NetworkStream s, byte[] message)
    {
        for (int n = 0; n < Size; ) {
            int got = await s.ReadAsync(message, n, Size - n).ConfigureAwait(false);
            Bench.Check(got > 0, "the connection ended");
            n += got;
        }
    }
    static async Task ServeAsync(NetworkStream s, int rounds)
    {
        var message = new byte[Size];
        for (int i = 0; i < rounds; i++) {
            await ReceiveAsync(s, message).ConfigureAwait(false);
            await s.WriteAsync(message, 0, Size).ConfigureAwait(false);
        }
    }
    static async Task AskAsync(NetworkStream s, int rounds)
    {
        var message = new byte[Size];
        for (int i = 0; i < rounds; i++) {
            message[0] = (byte)i;
            await s.WriteAsync(message, 0, Size).ConfigureAwait(false);
            message[0]++;
            await ReceiveAsync(s, message).ConfigureAwait(false);
            Bench.Check(message[0] == (byte)i, "another message came back");
        }
    }
    static double Async(int connections, int rounds)
    {
        return Bench.Seconds(() => {
            var all = new Task[2 * connections];
            for (int i = 0; i < connections; i++) {
                all[2 * i] = ServeAsync(servers[i].GetStream(), rounds);
                all[2 * i + 1] = AskAsync(clients[i].GetStream(), rounds);
            }
            Task.WaitAll(all);
        });
    }

    static void Main(string[] args)
    {
        string way = args.Length > 0 ? args[0] : "sync";
        int connections = Bench.Argument(args, 1, 1), total = Bench.Argument(args, 2, 20000);
        Func<int, int, double> run = Sync;
        if (way == "async") run = Async;
        Connect(connections);
        run(connections, Math.Max(1, total / 10 / connections));
        int rounds = Math.Max(1, total / connections);
        double seconds = run(connections, rounds);
        Bench.Figure("echo-" + way + "-" + connections, seconds * 1e6 / ((double)rounds * connections), "us");
        Environment.Exit(0);
    }
}
