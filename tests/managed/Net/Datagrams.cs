using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;

// Datagrams; several buffers at once; files; Poll and Select.
static class Datagrams
{
	static Socket [] Pair ()
	{
		var l = new TcpListener (IPAddress.Loopback, 0);
		l.Start ();
		var c = new TcpClient ();
		c.Connect ((IPEndPoint) l.LocalEndpoint);
		var pair = new [] { c.Client, l.AcceptSocket () };
		l.Stop ();
		return pair;
	}

	static void Udp (IPAddress loopback)
	{
		var a = new UdpClient (new IPEndPoint (loopback, 0));
		var b = new UdpClient (loopback.AddressFamily);
		b.Connect ((IPEndPoint) a.Client.LocalEndPoint);
		b.Send (new byte [] { 1, 2, 3 }, 3);
		IPEndPoint from = null;
		Console.WriteLine ("{0} {1} {2}", a.Receive (ref from).Length, from.Address, from.Port == ((IPEndPoint) b.Client.LocalEndPoint).Port);
		var task = b.ReceiveAsync ();
		a.Send (new byte [7], 7, from);
		Console.WriteLine ("{0} {1}", task.Result.Buffer.Length, task.Result.RemoteEndPoint.Equals (a.Client.LocalEndPoint));
		a.Send (new byte [0], 0, from);
		Console.WriteLine (b.Receive (ref from).Length);
		a.Send (new byte [100], 100, from = (IPEndPoint) b.Client.LocalEndPoint);
		EndPoint end = new IPEndPoint (loopback, 0);
		try {
			Console.WriteLine (b.Client.ReceiveFrom (new byte [10], ref end));
		} catch (SocketException e) {
			Console.WriteLine (e.SocketErrorCode);
		}
		try {
			a.Send (new byte [70000], 70000, from);
		} catch (SocketException e) {
			Console.WriteLine (e.SocketErrorCode);
		}
	}

	static void Buffers ()
	{
		var p = Pair ();
		var from = new List<ArraySegment<byte>> { new ArraySegment<byte> (new byte [] { 1, 2 }), new ArraySegment<byte> (new byte [] { 9, 3, 4 }, 1, 2) };
		Console.WriteLine (p [0].Send (from));
		var to = new List<ArraySegment<byte>> { new ArraySegment<byte> (new byte [3]), new ArraySegment<byte> (new byte [3]) };
		Console.WriteLine ("{0} {1} {2}", p [1].Receive (to), to [0].Array [2], to [1].Array [0]);
		p [0].Send (new byte [] { 5 });
		var one = new byte [1];
		Console.WriteLine ("{0} {1} {2}", p [1].Receive (one, SocketFlags.Peek), p [1].Receive (one), one [0]);
		string file = Path.GetTempFileName ();
		File.WriteAllText (file, "file");
		p [0].SendFile (file, new byte [] { 65 }, new byte [] { 66 }, TransmitFileOptions.UseDefaultWorkerThread);
		File.Delete (file);
		p [0].Shutdown (SocketShutdown.Send);
		Console.WriteLine (new StreamReader (new NetworkStream (p [1])).ReadToEnd ());
		try {
			p [1].SendFile ("/no/such/file");
		} catch (Exception e) {
			Console.WriteLine (e.GetType ().Name);
		}
	}

	static void Ready ()
	{
		var p = Pair ();
		Console.WriteLine ("{0} {1} {2}", p [0].Poll (0, SelectMode.SelectRead), p [0].Poll (0, SelectMode.SelectWrite), p [0].Poll (1000, SelectMode.SelectError));
		var read = new List<Socket> { p [0], p [1] };
		Socket.Select (read, null, null, 1000);
		Console.WriteLine (read.Count);
		p [0].Send (new byte [1]);
		read = new List<Socket> { p [0], p [1] };
		var write = new List<Socket> { p [0] };
		var errors = new List<Socket> { p [0], p [1] };
		Socket.Select (read, write, errors, -1);
		Console.WriteLine ("{0} {1} {2} {3}", read.Count, read [0] == p [1], write.Count, errors.Count);
		p [1].Receive (new byte [1]);
		p [0].Close ();
		Console.WriteLine ("{0} {1}", p [1].Poll (-1, SelectMode.SelectRead), p [1].Receive (new byte [1]));
		try {
			Socket.Select (null, null, null, 0);
		} catch (ArgumentNullException) {
			Console.WriteLine ("nothing to select");
		}
	}

	static void Main ()
	{
		Udp (IPAddress.Loopback);
		Udp (IPAddress.IPv6Loopback);
		Buffers ();
		Ready ();
	}
}
