// mcs: -r:Mono.Posix.dll
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using Mono.Unix;

// Addresses of every family, names, interfaces.
static class Families
{
	static Socket [] Pair (EndPoint at)
	{
		var protocol = at.AddressFamily == AddressFamily.Unix ? ProtocolType.IP : ProtocolType.Tcp;
		using (var listener = new Socket (at.AddressFamily, SocketType.Stream, protocol)) {
			listener.Bind (at);
			listener.Listen (1);
			var client = new Socket (at.AddressFamily, SocketType.Stream, protocol);
			client.Connect (listener.LocalEndPoint);
			return new [] { client, listener.Accept () };
		}
	}
	static void Talk (Socket [] pair)
	{
		pair [0].Send (Encoding.ASCII.GetBytes ("hello"));
		var b = new byte [10];
		Console.WriteLine (Encoding.ASCII.GetString (b, 0, pair [1].Receive (b)));
	}

	static void Main ()
	{
		var four = Pair (new IPEndPoint (IPAddress.Loopback, 0));
		Talk (four);
		Console.WriteLine ("{0} {1}", four [0].RemoteEndPoint.Equals (four [1].LocalEndPoint), ((IPEndPoint) four [1].RemoteEndPoint).Address);
		var six = Pair (new IPEndPoint (IPAddress.IPv6Loopback, 0));
		Talk (six);
		Console.WriteLine ("{0} {1}", six [0].RemoteEndPoint.Equals (six [1].LocalEndPoint), ((IPEndPoint) six [1].RemoteEndPoint).Address);

		var both = new Socket (SocketType.Stream, ProtocolType.Tcp);
		both.Bind (new IPEndPoint (IPAddress.IPv6Any, 0));
		both.Listen (5);
		var client = new TcpClient ("127.0.0.1", ((IPEndPoint) both.LocalEndPoint).Port);
		Console.WriteLine (((IPEndPoint) both.Accept ().RemoteEndPoint).Address);
		Console.WriteLine (((IPEndPoint) both.LocalEndPoint).Address);

		string path = Path.Combine (Path.GetTempPath (), "vervet-" + Guid.NewGuid ().ToString ("N"));
		var unix = Pair (new UnixEndPoint (path));
		Talk (unix);
		Console.WriteLine ("{0} {1}", unix [0].RemoteEndPoint.ToString () == path, File.Exists (path));
		File.Delete (path);
		try {
			new Socket (AddressFamily.Unix, SocketType.Stream, ProtocolType.IP).Connect (new UnixEndPoint (path));
		} catch (SocketException e) {
			Console.WriteLine (e.SocketErrorCode);
		}
		try {
			new Socket (AddressFamily.Unix, SocketType.Stream, ProtocolType.IP).Bind (new UnixEndPoint ("/tmp/" + new string ('x', 200)));
		} catch (Exception e) {
			Console.WriteLine (e.GetType ().Name);
		}

		Console.WriteLine (Dns.GetHostEntry ("localhost").HostName);
		Console.WriteLine (Dns.GetHostAddresses ("localhost").Contains (IPAddress.Loopback));
		Console.WriteLine (Dns.GetHostEntry ("127.0.0.1").HostName);
		Console.WriteLine (Dns.GetHostName () == Environment.MachineName);
		Console.WriteLine (Dns.GetHostAddresses ("10.1.2.3") [0]);
		try {
			Dns.GetHostEntry ("no.such.name.invalid");
		} catch (SocketException e) {
			Console.WriteLine ("{0} {1}", e.SocketErrorCode, e.Message);
		}

		var loop = NetworkInterface.GetAllNetworkInterfaces ().First (i => i.NetworkInterfaceType == NetworkInterfaceType.Loopback);
		Console.WriteLine ("{0} {1}", loop.Name, loop.GetIPProperties ().UnicastAddresses.Any (u => u.Address.Equals (IPAddress.Loopback)));
		Console.WriteLine (IPGlobalProperties.GetIPGlobalProperties ().HostName.Length > 0);
		Console.WriteLine ("{0} {1}", Socket.OSSupportsIPv4, Socket.OSSupportsIPv6);
	}
}
