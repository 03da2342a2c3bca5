using System;
using System.Net;
using System.Net.Sockets;

// Options of sockets, both ways.
static class Options
{
	static void Try (string what, Func<object> action)
	{
		try {
			object o = action ();
			var l = o as LingerOption;
			Console.WriteLine ("{0}: {1}", what, l != null ? l.Enabled + " " + l.LingerTime : o);
		} catch (SocketException e) {
			Console.WriteLine ("{0}: {1}", what, e.ErrorCode);
		}
	}

	static void Main ()
	{
		var l = new TcpListener (IPAddress.Loopback, 0);
		l.Start ();
		var c = new TcpClient ();
		c.Connect ((IPEndPoint) l.LocalEndpoint);
		Socket s = c.Client, peer = l.AcceptSocket ();

		foreach (int n in new [] { 4, 8, 0x10, 0x20, 0x80, -129, 0x100, 0x1005, 0x1006, 0x1007, 0x1008, -5, 2, 0x40, 0x7fffffff, 1, 0x1003, 0x1004 })
			Try ("get " + n, () => s.GetSocketOption (SocketOptionLevel.Socket, (SocketOptionName) n));
		s.SendBufferSize = 20000;
		s.ReceiveTimeout = 1000;
		s.SendTimeout = 500;
		s.LingerState = new LingerOption (true, 5);
		s.NoDelay = true;
		s.Ttl = 77;
		s.DontFragment = true;
		Console.WriteLine ("{0} {1} {2} {3} {4} {5} {6}", s.SendBufferSize, s.ReceiveTimeout, s.SendTimeout, s.LingerState.Enabled, s.LingerState.LingerTime, s.NoDelay, s.Ttl);
		Console.WriteLine (s.DontFragment);
		s.SetSocketOption (SocketOptionLevel.Socket, SocketOptionName.DontLinger, true);
		Try ("linger", () => s.LingerState);
		s.SetSocketOption (SocketOptionLevel.Socket, SocketOptionName.KeepAlive, new byte [] { 1, 0, 0, 0 });
		Try ("keep alive", () => s.GetSocketOption (SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
		var four = new byte [4];
		s.GetSocketOption (SocketOptionLevel.Tcp, SocketOptionName.NoDelay, four);
		Console.WriteLine ("{0} {1}", four [0], s.GetSocketOption (SocketOptionLevel.Tcp, SocketOptionName.NoDelay, 4).Length);

		Try ("expedited", () => { s.SetSocketOption (SocketOptionLevel.Socket, SocketOptionName.UseLoopback, 1); return "ok"; });
		var values = new byte [12];
		values [0] = 1; values [5] = 8; values [9] = 8;
		Try ("keep alive values", () => s.IOControl (IOControlCode.KeepAliveValues, values, null));
		Try ("non-blocking", () => { try { return s.IOControl (IOControlCode.NonBlockingIO, four, null); } catch (InvalidOperationException) { return "invalid"; } });
		peer.Send (new byte [5]);
		s.Poll (5000000, SelectMode.SelectRead);
		Console.WriteLine (s.Available);
		s.Disconnect (false);
		Console.WriteLine (s.Connected);

		var six = new Socket (AddressFamily.InterNetworkV6, SocketType.Stream, ProtocolType.Tcp);
		Console.WriteLine (six.GetSocketOption (SocketOptionLevel.IPv6, SocketOptionName.IPv6Only));
		six.DualMode = true;
		Console.WriteLine (six.DualMode);
		six.SetSocketOption (SocketOptionLevel.IPv6, SocketOptionName.HopLimit, 9);
		Console.WriteLine (six.GetSocketOption (SocketOptionLevel.IPv6, SocketOptionName.HopLimit));

		var u = new UdpClient (new IPEndPoint (IPAddress.Any, 0));
		Console.WriteLine ("{0} {1} {2}", u.EnableBroadcast, u.MulticastLoopback, u.Ttl);
		u.EnableBroadcast = true;
		u.MulticastLoopback = false;
		Console.WriteLine ("{0} {1}", u.EnableBroadcast, u.MulticastLoopback);
		u.Client.SetSocketOption (SocketOptionLevel.IP, SocketOptionName.MulticastInterface, IPAddress.HostToNetworkOrder (1));
		u.Client.SetSocketOption (SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption (IPAddress.Parse ("239.1.2.3"), IPAddress.Loopback));
		u.Client.SetSocketOption (SocketOptionLevel.IP, SocketOptionName.DropMembership, new MulticastOption (IPAddress.Parse ("239.1.2.3"), IPAddress.Loopback));
		Try ("not a member", () => { u.Client.SetSocketOption (SocketOptionLevel.IP, SocketOptionName.DropMembership, new MulticastOption (IPAddress.Parse ("239.1.2.3"), IPAddress.Loopback)); return "ok"; });
		// Two with one address, if both say so.
		Socket a = Shared (), b = Shared ();
		a.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		b.Bind (a.LocalEndPoint);
		Console.WriteLine (a.LocalEndPoint.Equals (b.LocalEndPoint));
	}

	static Socket Shared ()
	{
		var s = new Socket (AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
		s.SetSocketOption (SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
		return s;
	}
}
