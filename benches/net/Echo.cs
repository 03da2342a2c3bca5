// What a message and its echo cost over loopback, for the whole process: both ends are in it. One program, three ways to wait:
// `sync` has a thread at each end of each connection, `green` a green thread (benches/green.sh), `async` awaits tasks of
// NetworkStream. Connecting is not measured.
//
//   Echo sync|green|async CONNECTIONS ROUNDTRIPS    (in all)
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
    // Runs both ends of all connections on threads that `start` starts.
    static double Blocking(int connections, int rounds, Action<Action> start)
    {
        using (var go = new ManualResetEventSlim(false))
        using (var ready = new CountdownEvent(2 * connections))
        using (var ended = new CountdownEvent(2 * connections)) {
            for (int i = 0; i < connections; i++) {
                Socket server = servers[i].Client, client = clients[i].Client;
                start(() => { ready.Signal(); go.Wait(); ServeSync(server, rounds); ended.Signal(); });
                start(() => { ready.Signal(); go.Wait(); AskSync(client, rounds); ended.Signal(); });
            }
            ready.Wait();
            return Bench.Seconds(() => {
                go.Set();
                ended.Wait();
            });
        }
    }
    static double Sync(int connections, int rounds)
    {
        return Blocking(connections, rounds, work => new Thread(() => work(), 128 << 10).Start());
    }
    static double Green(int connections, int rounds)
    {
        return Blocking(connections, rounds, work => GreenThreads.Run(work));
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
        if (way == "green") run = Green;
        Connect(connections);
        run(connections, Math.Max(1, total / 10 / connections));
        int rounds = Math.Max(1, total / connections);
        double seconds = run(connections, rounds);
        Bench.Figure("echo-" + way + "-" + connections, seconds * 1e6 / ((double)rounds * connections), "us");
        Environment.Exit(0);
    }
}
