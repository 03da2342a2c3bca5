using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

// The three ways to be told when an operation has ended, and what closing does to one that has not.
static class Asynchronous
{
	static Socket Listening ()
	{
		var s = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
		s.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		s.Listen (100);
		return s;
	}

	static void Begin ()
	{
		var l = Listening ();
		var accept = l.BeginAccept (null, null);
		var c = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
		var connect = c.BeginConnect (l.LocalEndPoint, null, "state");
		c.EndConnect (connect);
		Console.WriteLine ("{0} {1}", connect.AsyncState, c.Connected);
		var s = l.EndAccept (accept);
		var b = new byte [10];
		var called = new ManualResetEvent (false);
		var receive = s.BeginReceive (b, 0, 10, 0, r => called.Set (), null);
		Console.WriteLine (called.WaitOne (30));
		Console.WriteLine (c.EndSend (c.BeginSend (new byte [3], 0, 3, 0, null, null)));
		Console.WriteLine ("{0} {1}", called.WaitOne (5000), s.EndReceive (receive));
		// Of two that wait, each gets something, in order.
		var first = s.BeginReceive (b, 0, 1, 0, null, null);
		var second = s.BeginReceive (b, 1, 1, 0, null, null);
		c.Send (new byte [] { 7, 8 });
		Console.WriteLine ("{0} {1} {2} {3}", s.EndReceive (first), s.EndReceive (second), b [0], b [1]);
		receive = s.BeginReceive (b, 0, 10, 0, null, null);
		s.Close ();
		try {
			s.EndReceive (receive);
		} catch (Exception e) {
			Console.WriteLine (e.GetType ().Name);
		}
		accept = l.BeginAccept (null, null);
		l.Close ();
		try {
			l.EndAccept (accept);
		} catch (Exception e) {
			Console.WriteLine (e.GetType ().Name);
		}
		var refused = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
		try {
			refused.EndConnect (refused.BeginConnect (IPAddress.Loopback, 1, null, null));
		} catch (SocketException e) {
			Console.WriteLine (e.SocketErrorCode);
		}
	}

	static void Wait (SocketAsyncEventArgs args, Func<SocketAsyncEventArgs, bool> begin)
	{
		var done = new ManualResetEventSlim ();
		EventHandler<SocketAsyncEventArgs> completed = (o, e) => done.Set ();
		args.Completed += completed;
		if (begin (args))
			done.Wait ();
		args.Completed -= completed;
		Console.WriteLine ("{0} {1} {2}", args.LastOperation, args.SocketError, args.BytesTransferred);
	}
	static void Events ()
	{
		var l = Listening ();
		var c = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
		var accept = new SocketAsyncEventArgs ();
		var accepted = new ManualResetEventSlim ();
		accept.Completed += (o, e) => accepted.Set ();
		Console.WriteLine (l.AcceptAsync (accept));
		Wait (new SocketAsyncEventArgs { RemoteEndPoint = l.LocalEndPoint }, c.ConnectAsync);
		accepted.Wait ();
		var s = accept.AcceptSocket;
		var args = new SocketAsyncEventArgs ();
		args.SetBuffer (new byte [10], 0, 4);
		Wait (args, c.SendAsync);
		args.SetBuffer (0, 10);
		Wait (args, s.ReceiveAsync);
		args.SetBuffer (null, 0, 0);
		args.BufferList = new List<ArraySegment<byte>> { new ArraySegment<byte> (new byte [2]), new ArraySegment<byte> (new byte [3]) };
		Wait (args, s.SendAsync);
		Wait (args, c.ReceiveAsync);
		Wait (args, e => {
			bool pending = s.ReceiveAsync (e);
			new Thread (() => { Thread.Sleep (30); s.Close (); }).Start ();
			return pending;
		});
		Wait (new SocketAsyncEventArgs { RemoteEndPoint = new IPEndPoint (IPAddress.Loopback, 1) }, new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp).ConnectAsync);
	}

	static async Task Serve (TcpListener l, int connections)
	{
		var all = new List<Task> ();
		for (int i = 0; i < connections; i++)
			all.Add (Echo (await l.AcceptTcpClientAsync ()));
		await Task.WhenAll (all);
	}
	static async Task Echo (TcpClient client)
	{
		using (client) {
			var stream = client.GetStream ();
			var b = new byte [64];
			int n;
			while ((n = await stream.ReadAsync (b, 0, b.Length)) > 0)
				await stream.WriteAsync (b, 0, n);
		}
	}
	static async Task<int> Ask (int port, int rounds)
	{
		using (var client = new TcpClient ()) {
			await client.ConnectAsync (IPAddress.Loopback, port);
			var stream = client.GetStream ();
			var b = new byte [100];
			int sum = 0;
			for (int i = 0; i < rounds; i++) {
				b [99] = (byte) i;
				await stream.WriteAsync (b, 0, 100);
				b [99] = 0;
				for (int got = 0; got < 100; )
					got += await stream.ReadAsync (b, got, 100 - got);
				sum += b [99];
			}
			return sum;
		}
	}
	static void Tasks ()
	{
		var l = new TcpListener (IPAddress.Loopback, 0);
		l.Start ();
		var server = Serve (l, 50);
		int port = ((IPEndPoint) l.LocalEndpoint).Port;
		Console.WriteLine (Task.WhenAll (Enumerable.Range (0, 50).Select (i => Ask (port, 20))).Result.Sum ());
		server.Wait ();
		var pending = l.AcceptTcpClientAsync ();
		l.Stop ();
		try {
			pending.Wait ();
		} catch (AggregateException e) {
			Console.WriteLine (e.InnerException.GetType ().Name);
		}
		var u = new UdpClient (new IPEndPoint (IPAddress.Loopback, 0));
		var datagram = u.ReceiveAsync ();
		u.Close ();
		try {
			datagram.Wait ();
		} catch (AggregateException e) {
			Console.WriteLine (e.InnerException.GetType ().Name);
		}
	}

	static void Main ()
	{
		Begin ();
		Events ();
		Tasks ();
	}
}
