// mcs: -r:System.Runtime.Remoting.dll
// A proxy that was made for an interface may be cast to whatever class its type info allows; proxies are kept by address.
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Channels;
using System.Runtime.Remoting.Channels.Tcp;

public interface IService { int Add(int a, int b); }
public interface IOther { int Other(); }
public class Service : MarshalByRefObject, IService, IOther
{
    public int Add(int a, int b) { return a + b; }
    public int Other() { return 3; }
    public int Own() { return 7; }
}

static class CastProxies
{
    static void Main()
    {
        var channel = new TcpChannel(0);
        ChannelServices.RegisterChannel(channel, false);
        RemotingConfiguration.RegisterWellKnownServiceType(typeof(Service), "service", WellKnownObjectMode.Singleton);
        string address = channel.GetUrlsForUri("service")[0];
        object made = Activator.GetObject(typeof(IService), address);
        var real = RemotingServices.GetRealProxy(made);
        Console.WriteLine(real.GetProxiedType()); // expect: System.MarshalByRefObject
        Console.WriteLine(made is Service); // expect: True
        Console.WriteLine(made is string); // expect: False
        Console.WriteLine(((Service)made).Own()); // expect: 7
        Console.WriteLine(((IOther)made).Other()); // expect: 3
        Console.WriteLine(((IService)made).Add(1, 2)); // expect: 3
        object again = Activator.GetObject(typeof(Service), address);
        Console.WriteLine(((Service)again).Own()); // expect: 7
        channel.StopListening(null);
    }
}
