using System;
using System.Collections.Generic;
using System.Net;
using System.Net.Sockets;
using System.Threading;

// An abort ends every blocking operation, at once; what was there to be received stays there.
static class Aborted
{
	static Socket Tcp ()
	{
		return new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
	}

	static void Abort (string what, Action blocks)
	{
		var begun = new ManualResetEvent (false);
		var thread = new Thread (() => {
			try {
				begun.Set ();
				blocks ();
				Console.WriteLine (what + " ended by itself");
			} catch (ThreadAbortException) {
				Console.WriteLine (what + " aborted");
			}
		});
		thread.Start ();
		begun.WaitOne ();
		Thread.Sleep (30);
		thread.Abort ();
		if (!thread.Join (5000)) {
			Console.WriteLine (what + " goes on");
			Environment.Exit (1);
		}
	}

	static void Main ()
	{
		var listener = Tcp ();
		listener.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		listener.Listen (10);
		var client = Tcp ();
		client.Connect (listener.LocalEndPoint);
		var server = listener.Accept ();
		var b = new byte [10];

		Abort ("receive", () => client.Receive (b)); // expect: receive aborted
		Abort ("accept", () => listener.Accept ()); // expect: accept aborted
		Abort ("poll", () => client.Poll (-1, SelectMode.SelectRead)); // expect: poll aborted
		Abort ("select", () => Socket.Select (new List<Socket> { client, server }, null, null, -1)); // expect: select aborted
		EndPoint from = new IPEndPoint (IPAddress.Any, 0);
		var udp = new Socket (AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
		udp.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		Abort ("receive from", () => udp.ReceiveFrom (b, ref from)); // expect: receive from aborted
		Abort ("receive buffers", () => client.Receive (new List<ArraySegment<byte>> { new ArraySegment<byte> (b) })); // expect: receive buffers aborted
		Abort ("send", () => { for (;;) client.Send (new byte [1 << 16]); }); // expect: send aborted

		// The sockets are as they were.
		server.Send (b, 3, 0);
		Console.WriteLine (client.Receive (b)); // expect: 3
		var again = Tcp ();
		again.Connect (listener.LocalEndPoint);
		listener.Accept ().Send (b, 2, 0);
		Console.WriteLine (again.Receive (b)); // expect: 2

		// At every moment of the beginning of an operation.
		int received = 0;
		for (int i = 0; i < 300; i++) {
			var go = new ManualResetEventSlim (false);
			var thread = new Thread (() => {
				try {
					go.Set ();
					for (;;) {
						try {
						} finally {
							// No abort comes between what is received and what is counted.
							if (again.Available > 0)
								received += again.Receive (new byte [100]);
						}
						again.Poll (-1, SelectMode.SelectRead);
					}
				} catch (ThreadAbortException) {
				}
			});
			thread.Start ();
			go.Wait ();
			thread.Abort ();
			if (!thread.Join (5000)) {
				Console.WriteLine ("round {0} goes on", i);
				Environment.Exit (1);
			}
		}
		Console.WriteLine (received); // expect: 0

		// Threads that wait for ever do not keep the process.
		new Thread (() => listener.Accept ()) { IsBackground = true }.Start ();
		new Thread (() => again.Receive (new byte [1])) { IsBackground = true }.Start ();
		Thread.Sleep (30);
	}
}
