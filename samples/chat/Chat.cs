// A chat server with two green threads for each client: one reads its lines, one writes what others say. Try it with
//
//   vervet run samples/chat/Chat.cs -- 8081        and, in other terminals: nc 127.0.0.1 8081
//
// `-- test CLIENTS` is a room full of clients in the same process, each on a green thread, that all hear each other.
using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

sealed class Client
{
    // What the client has not been sent yet. A client that does not read must stop nobody else, so this has an end.
    readonly BlockingCollection<string> outbox = new BlockingCollection<string>(1000);
    readonly TcpClient connection;

    public Client(TcpClient connection) { this.connection = connection; }

    public void Say(string line)
    {
        try {
            if (!outbox.TryAdd(line)) connection.Close(); // ends its reader, which removes it
        }
        catch (InvalidOperationException) { } // it is gone
    }

    public void Write()
    {
        try {
            var writer = new StreamWriter(connection.GetStream()) { NewLine = "\n" };
            foreach (string line in outbox.GetConsumingEnumerable()) {
                writer.WriteLine(line);
                if (outbox.Count == 0) writer.Flush();
            }
        }
        catch (IOException) { }
        catch (InvalidOperationException) { } // closed before it began
    }

    public void Read(Room room)
    {
        string name = null;
        try {
            var reader = new StreamReader(connection.GetStream());
            Say("your name?");
            name = reader.ReadLine();
            if (string.IsNullOrEmpty(name) || !room.Enter(name, this)) return;
            string line;
            while ((line = reader.ReadLine()) != null) room.Say(name + ": " + line);
        }
        catch (IOException) { }
        finally {
            if (name != null) room.Leave(name, this);
            outbox.CompleteAdding();
            connection.Close();
        }
    }
}

sealed class Room
{
    readonly ConcurrentDictionary<string, Client> clients = new ConcurrentDictionary<string, Client>();

    public int Count { get { return clients.Count; } }

    public void Say(string line)
    {
        foreach (var client in clients) client.Value.Say(line);
    }

    public bool Enter(string name, Client client)
    {
        if (!clients.TryAdd(name, client)) return false;
        Say("* " + name + " is here");
        return true;
    }

    public void Leave(string name, Client client)
    {
        Client known;
        if (!clients.TryGetValue(name, out known) || known != client) return;
        clients.TryRemove(name, out known);
        Say("* " + name + " has left");
    }

    public void Serve(TcpListener listener)
    {
        while (true) {
            var client = new Client(listener.AcceptTcpClient());
            Task.RunAsGreenThread(client.Write);
            Task.RunAsGreenThread(() => client.Read(this));
        }
    }
}

static class Chat
{
    static void Main(string[] args)
    {
        bool test = args.Length == 2 && args[0] == "test";
        var room = new Room();
        var listener = new TcpListener(IPAddress.Loopback, test ? 0 : args.Length > 0 ? int.Parse(args[0]) : 8081);
        listener.Start(4096);
        if (!test) {
            Console.WriteLine("chat on " + listener.LocalEndpoint);
            room.Serve(listener);
        }
        Task.RunAsGreenThread(() => room.Serve(listener));
        Test((IPEndPoint)listener.LocalEndpoint, int.Parse(args[1]));
    }

    // Every client enters, waits for all others, says one line, and reads until it has heard every line.
    static void Test(IPEndPoint server, int count)
    {
        var everybodyIsIn = new CountdownEvent(count);
        var clients = new Task<int>[count];
        for (int i = 0; i < count; i++) {
            string name = "client" + i;
            clients[i] = Task.RunAsGreenThread(() => {
                using (var connection = new TcpClient()) {
                    connection.Connect(server.Address, server.Port);
                    var reader = new StreamReader(connection.GetStream());
                    var writer = new StreamWriter(connection.GetStream()) { NewLine = "\n", AutoFlush = true };
                    writer.WriteLine(name);
                    while (reader.ReadLine() != "* " + name + " is here") { }
                    everybodyIsIn.Signal();
                    everybodyIsIn.Wait();
                    writer.WriteLine("hello");
                    int heard = 0;
                    while (heard < count)
                        if (reader.ReadLine().EndsWith(": hello")) heard++;
                    return heard;
                }
            });
        }
        int all = 0;
        foreach (var client in clients) all += client.Result;
        Console.WriteLine(count + " clients heard " + all + " lines");
    }
}
