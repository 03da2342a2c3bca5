using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

// Blocking operations: what ends them, and what is said of each way to use a socket badly.
static class Blocking
{
	static void Try (string what, Action action)
	{
		try {
			action ();
			Console.WriteLine (what + ": ok");
		} catch (SocketException e) {
			Console.WriteLine ("{0}: {1} {2}", what, e.ErrorCode, e.SocketErrorCode);
		} catch (Exception e) {
			Console.WriteLine ("{0}: {1}", what, e.GetType ().Name);
		}
	}

	static Socket Tcp ()
	{
		return new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
	}
	static Socket Listening ()
	{
		var listener = Tcp ();
		listener.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		listener.Listen (10);
		return listener;
	}
	static Socket [] Pair ()
	{
		using (var listener = Listening ()) {
			var client = Tcp ();
			client.Connect (listener.LocalEndPoint);
			return new [] { client, listener.Accept () };
		}
	}

	// Runs a blocking action on a thread, does something else when it is likely to block, and waits for its end.
	static void While (string what, Action blocks, Action then)
	{
		var thread = new Thread (() => Try (what, blocks));
		thread.Start ();
		while (thread.ThreadState == ThreadState.Unstarted)
			Thread.Yield ();
		Thread.Sleep (60);
		then ();
		if (!thread.Join (10000)) {
			Console.WriteLine (what + " goes on for ever");
			Environment.Exit (1);
		}
	}

	static void Ends ()
	{
		var b = new byte [1];
		var p = Pair ();
		While ("receive, then data", () => p [0].Receive (b), () => p [1].Send (b));
		While ("receive, then end", () => { if (p [0].Receive (b) != 0) throw new Exception (); }, () => p [1].Close ());
		p = Pair ();
		While ("receive, then closed", () => { try { p [0].Receive (b); } catch (ObjectDisposedException) { throw new SocketException (10004); } }, () => p [0].Close ());
		p = Pair ();
		While ("receive, then shut down", () => p [0].Receive (b), () => p [0].Shutdown (SocketShutdown.Both));
		p = Pair ();
		While ("send, then closed", () => { try { for (;;) p [0].Send (new byte [1 << 20]); } catch (ObjectDisposedException) { throw new SocketException (10004); } }, () => p [0].Close ());
		var l = new TcpListener (IPAddress.Loopback, 0);
		l.Start ();
		While ("accept, then stopped", () => l.AcceptSocket (), () => l.Stop ());
		var u = new UdpClient (new IPEndPoint (IPAddress.Loopback, 0));
		IPEndPoint from = null;
		While ("datagram, then closed", () => { try { u.Receive (ref from); } catch (ObjectDisposedException) { throw new SocketException (10004); } }, () => u.Close ());
		p = Pair ();
		// An interrupt does not end it: it is no wait of the class library's.
		Thread thread = null;
		While ("receive, then interrupted, then data", () => { thread = Thread.CurrentThread; p [0].Receive (b); }, () => {
			thread.Interrupt ();
			Thread.Sleep (30);
			p [1].Send (b);
		});
	}

	static void Timeouts ()
	{
		var p = Pair ();
		p [0].ReceiveTimeout = 50;
		p [0].SendTimeout = 50;
		Try ("receive timeout", () => p [0].Receive (new byte [1]));
		Console.WriteLine (p [0].Connected);
		Try ("send timeout", () => { for (;;) p [0].Send (new byte [1 << 20]); });
		p = Pair ();
		p [0].Blocking = false;
		Try ("nothing there", () => p [0].Receive (new byte [1]));
		var s = Tcp ();
		s.Blocking = false;
		var l = Listening ();
		Try ("under way", () => s.Connect (l.LocalEndPoint));
		Console.WriteLine (s.Poll (5000000, SelectMode.SelectWrite));
		Console.WriteLine (s.GetSocketOption (SocketOptionLevel.Socket, SocketOptionName.Error));
		l.Blocking = false;
		l.Accept ();
		Try ("nobody there", () => l.Accept ());
	}

	static void Misuse ()
	{
		Try ("refused", () => Tcp ().Connect (IPAddress.Loopback, 1));
		Try ("send without connection", () => Tcp ().Send (new byte [1]));
		Try ("receive without connection", () => Tcp ().Receive (new byte [1]));
		Try ("listen without address", () => Tcp ().Listen (1));
		Try ("accept without listening", () => { var s = Tcp (); s.Bind (new IPEndPoint (IPAddress.Loopback, 0)); s.Accept (); });
		Try ("bound twice", () => Tcp ().Bind (Listening ().LocalEndPoint));
		Try ("not our address", () => Tcp ().Bind (new IPEndPoint (IPAddress.Parse ("192.0.2.99"), 0)));
		Try ("connected twice", () => { var p = Pair (); p [0].Connect (IPAddress.Loopback, 1); });
		Try ("another family", () => Tcp ().Connect (IPAddress.IPv6Loopback, 1));
		Try ("no such family", () => new Socket (AddressFamily.Ccitt, SocketType.Stream, ProtocolType.Tcp));
		Try ("no such protocol", () => new Socket (AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Tcp));
		Try ("flags", () => Pair () [0].Send (new byte [1], (SocketFlags) 0x4000));
		Try ("range", () => Pair () [0].Send (new byte [1], 1, 1, 0));
		Try ("null", () => Pair () [0].Send ((byte []) null));
		var q = Pair ();
		q [0].Close ();
		Try ("disposed: send", () => q [0].Send (new byte [1]));
		Try ("disposed: available", () => { var n = q [0].Available; });
		Try ("disposed: poll", () => q [0].Poll (0, SelectMode.SelectRead));
		Try ("disposed: bind", () => q [0].Bind (new IPEndPoint (IPAddress.Loopback, 0)));
		q [0].Close ();
		Console.WriteLine (q [1].Receive (new byte [1]));
		Try ("peer gone", () => {
			q [1].Send (new byte [1]);
			Thread.Sleep (50);
			q [1].Send (new byte [1]);
		});
		q = Pair ();
		q [0].Shutdown (SocketShutdown.Send);
		Try ("shut for sending", () => q [0].Send (new byte [1]));
		q = Pair ();
		q [1].Send (new byte [5]);
		q [0].Poll (5000000, SelectMode.SelectRead);
		Console.WriteLine (q [0].Available);
		q [0].LingerState = new LingerOption (true, 0);
		q [0].Close ();
		Try ("reset", () => { q [1].Poll (5000000, SelectMode.SelectRead); q [1].Receive (new byte [1]); });
	}

	static void Main ()
	{
		Ends ();
		Timeouts ();
		Misuse ();
	}
}
