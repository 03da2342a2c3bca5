// Two processes talk over each kind of channel of System.Runtime.Remoting: numbers, graphs of objects, by-reference arguments, exceptions, calls back, objects that calls make,
// asynchronous and one-way calls, calls from several threads, and activation by the client.
// mcs: -r:System.Runtime.Remoting.dll
// timeout: 120
using System;
using System.Collections;
using System.Diagnostics;
using System.Linq;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Activation;
using System.Runtime.Remoting.Channels;
using System.Runtime.Remoting.Channels.Http;
using System.Runtime.Remoting.Channels.Ipc;
using System.Runtime.Remoting.Channels.Tcp;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Serialization.Formatters;
using System.Threading;

[Serializable]
public class Item
{
    public int Number;
    public string Text;
    public Item Next;
}
public class Callback : MarshalByRefObject
{
    public int Got;
    public void Tell(int x) { Got += x; }
}
public class Service : MarshalByRefObject
{
    int calls;
    public int Field = 5;
    public string Echo(string s) { return "echo " + s; }
    public int Add(int a, int b) { return a + b; }
    public int Count() { return Interlocked.Increment(ref calls); }
    public Item Chain(Item i) { return new Item { Number = i.Number + 1, Text = i.Text + "!", Next = i }; }
    public void Swap(ref int a, ref string b, out double c) { a = -a; b = b + b; c = 1.5; }
    public ArrayList List(int n) { return new ArrayList(Enumerable.Range(0, n).Select(i => i * i).ToArray()); }
    public void Fail(string message) { throw new InvalidOperationException(message); }
    public void Back(Callback callback) { for (int i = 1; i <= 4; i++) callback.Tell(i); }
    public Service Other() { return new Service { Field = 9 }; }
    [OneWay] public void Forget(int n) { for (int i = 0; i < n; i++) Count(); }
    public override object InitializeLifetimeService() { return null; }
}
public class Once : MarshalByRefObject
{
    int calls;
    public int Count() { return ++calls; }
}

static class Channels
{
    static IChannel Make(string kind, string name)
    {
        var properties = new Hashtable { { "name", kind } };
        if (kind == "ipc") properties["portName"] = name;
        else {
            properties["port"] = 0;
            properties["bindTo"] = properties["machineName"] = "127.0.0.1";
        }
        var binary = new BinaryServerFormatterSinkProvider { TypeFilterLevel = TypeFilterLevel.Full };
        switch (kind) {
            case "tcp": return new TcpChannel(properties, null, binary);
            case "ipc": return new IpcChannel(properties, null, binary);
            default: return new HttpChannel(properties, null, new SoapServerFormatterSinkProvider { TypeFilterLevel = TypeFilterLevel.Full });
        }
    }

    static void Serve(string kind, string name)
    {
        var channel = Make(kind, name);
        ChannelServices.RegisterChannel(channel, false);
        RemotingConfiguration.RegisterWellKnownServiceType(typeof(Service), "service", WellKnownObjectMode.Singleton);
        RemotingConfiguration.RegisterWellKnownServiceType(typeof(Once), "once", WellKnownObjectMode.SingleCall);
        RemotingConfiguration.RegisterActivatedServiceType(typeof(Service));
        Console.WriteLine(kind == "ipc" ? "ipc://" + name : ((ChannelDataStore)((IChannelReceiver)channel).ChannelData).ChannelUris[0]);
        Console.In.ReadLine();
    }

    static void Call(string url)
    {
        var service = (Service)Activator.GetObject(typeof(Service), url + "/service");
        Console.WriteLine(RemotingServices.IsTransparentProxy(service) + " " + service.Echo("hi") + " " + service.Add(2, 3) + " " + service.Count() + service.Count());
        var once = (Once)Activator.GetObject(typeof(Once), url + "/once");
        Console.WriteLine(once.Count() + " " + once.Count());
        var item = service.Chain(new Item { Number = 1, Text = "x" });
        Console.WriteLine(item.Number + item.Text + item.Next.Text);
        int x = 4;
        string y = "ab";
        double z;
        service.Swap(ref x, ref y, out z);
        Console.WriteLine(x + y + z + " " + string.Join(",", service.List(6).ToArray()));
        try { service.Fail("failed"); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        var callback = new Callback();
        service.Back(callback);
        Console.WriteLine("told " + callback.Got);
        var other = service.Other();
        Console.WriteLine(RemotingServices.IsTransparentProxy(other) + " " + other.Field + " " + other.Add(4, 4));
        other.Field = 12;
        Console.WriteLine(other.Field);

        Func<int, int, int> add = service.Add;
        Console.WriteLine(add.EndInvoke(add.BeginInvoke(20, 22, null, null)));
        Func<string, string> echo = service.Echo;
        var done = new ManualResetEvent(false);
        string got = null;
        echo.BeginInvoke("later", result => {
            got = ((Func<string, string>)((AsyncResult)result).AsyncDelegate).EndInvoke(result);
            done.Set();
        }, null);
        done.WaitOne();
        Console.WriteLine(got);
        Action<string> fail = service.Fail;
        var failed = fail.BeginInvoke("failed later", null, null);
        try { fail.EndInvoke(failed); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        service.Forget(3);
        for (int i = 0; i < 1000 && service.Count() < 6; i++) Thread.Sleep(10);

        int sum = 0;
        var threads = Enumerable.Range(0, 4).Select(n => new Thread(() => {
            for (int k = 0; k < 25; k++) Interlocked.Add(ref sum, service.Add(k, n));
        })).ToArray();
        foreach (var thread in threads) thread.Start();
        foreach (var thread in threads) thread.Join();
        Console.WriteLine(sum);
        var own = (Service)Activator.CreateInstance(typeof(Service), null, new object[] { new UrlAttribute(url) });
        Console.WriteLine(RemotingServices.IsTransparentProxy(own) + " " + own.Count() + own.Count());
        try { ((Service)Activator.GetObject(typeof(Service), url + "/nothing")).Add(1, 2); } catch (RemotingException e) { Console.WriteLine(e.Message.Split('.').Last()); }
    }

    static void Main(string[] args)
    {
        if (args.Length > 0) {
            Serve(args[0], args[1]);
            return;
        }
        foreach (var kind in new[] { "tcp", "ipc", "http" }) {
            Console.WriteLine(kind);
            var me = Process.GetCurrentProcess();
            var name = "channels" + me.Id;
            var server = Process.Start(new ProcessStartInfo(me.MainModule.FileName, "\"" + typeof(Channels).Assembly.Location + "\" " + kind + " " + name) {
                UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true });
            var url = server.StandardOutput.ReadLine();
            var channel = Make(kind, name + "client");
            ChannelServices.RegisterChannel(channel, false);
            Call(url);
            ChannelServices.UnregisterChannel(channel);
            server.StandardInput.WriteLine();
            server.WaitForExit();
        }
    }
}
