using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

// Many connections at once, of threads and of tasks, while garbage is collected; afterwards no descriptor is left.
static class ManyConnections
{
	const int Connections = 200, Rounds = 30, Size = 300;
	static volatile bool done;

	// A listener that was stopped has got a new socket, which its finalizer closes.
	static int Descriptors ()
	{
		for (int i = 0; i < 3; i++) {
			GC.Collect ();
			GC.WaitForPendingFinalizers ();
		}
		return System.IO.Directory.GetFileSystemEntries ("/proc/self/fd").Length;
	}

	static byte [] Message (int connection, int round)
	{
		var m = new byte [Size];
		for (int i = 0; i < Size; i++)
			m [i] = (byte) (connection * 7 + round + i);
		return m;
	}
	static void Check (byte [] sent, byte [] got)
	{
		if (!sent.SequenceEqual (got))
			throw new Exception ("other bytes came back");
	}

	static void ServeBlocking (Socket s)
	{
		using (s)
			for (;;) {
				var b = new byte [97];
				int n = s.Receive (b);
				if (n == 0)
					return;
				s.Send (b, n, 0);
			}
	}
	static void AskBlocking (EndPoint end, int connection)
	{
		using (var s = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)) {
			s.Connect (end);
			for (int round = 0; round < Rounds; round++) {
				byte [] sent = Message (connection, round), got = new byte [Size];
				s.Send (sent);
				for (int n = 0; n < Size; )
					n += s.Receive (got, n, Size - n, 0);
				Check (sent, got);
			}
		}
	}
	static async Task ServeTask (TcpClient c)
	{
		using (c) {
			var stream = c.GetStream ();
			for (;;) {
				var b = new byte [97];
				int n = await stream.ReadAsync (b, 0, b.Length);
				if (n == 0)
					return;
				await stream.WriteAsync (b, 0, n);
			}
		}
	}
	static async Task AskTask (IPEndPoint end, int connection)
	{
		using (var c = new TcpClient ()) {
			await c.ConnectAsync (end.Address, end.Port);
			var stream = c.GetStream ();
			for (int round = 0; round < Rounds; round++) {
				byte [] sent = Message (connection, round), got = new byte [Size];
				await stream.WriteAsync (sent, 0, Size);
				for (int n = 0; n < Size; )
					n += await stream.ReadAsync (got, n, Size - n);
				Check (sent, got);
			}
		}
	}

	static void Blocking (int count)
	{
		var l = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
		l.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		l.Listen (count);
		var all = new List<Thread> ();
		Action<Action> run = work => {
			var t = new Thread (() => work (), 128 << 10);
			lock (all)
				all.Add (t);
			t.Start ();
		};
		for (int i = 0; i < count; i++) {
			int connection = i;
			run (() => AskBlocking (l.LocalEndPoint, connection));
		}
		for (int i = 0; i < count; i++) {
			var s = l.Accept ();
			run (() => ServeBlocking (s));
		}
		foreach (var t in all)
			t.Join ();
		l.Close ();
	}
	static async Task Tasks (int count)
	{
		var l = new TcpListener (IPAddress.Loopback, 0);
		l.Start (count);
		var all = new List<Task> ();
		for (int i = 0; i < count; i++)
			all.Add (AskTask ((IPEndPoint) l.LocalEndpoint, i));
		for (int i = 0; i < count; i++)
			all.Add (ServeTask (await l.AcceptTcpClientAsync ()));
		await Task.WhenAll (all);
		l.Stop ();
	}

	static void Main ()
	{
		Tasks (2).Wait ();
		Blocking (2);
		int before = Descriptors ();
		var collecting = new Thread (() => {
			for (int i = 0; !done; i++) {
				if (i % 20 == 0)
					GC.Collect ();
				GC.KeepAlive (new byte [1000]);
				Thread.Sleep (1);
			}
		});
		collecting.Start ();
		Tasks (Connections).Wait ();
		Console.WriteLine ("tasks"); // expect: tasks
		Blocking (Connections / 4);
		Console.WriteLine ("threads"); // expect: threads
		var both = Tasks (Connections / 4);
		Blocking (Connections / 8);
		both.Wait ();
		done = true;
		collecting.Join ();
		int left = Descriptors () - before;
		Console.WriteLine (left > 2 ? left.ToString () : "none left"); // expect: none left
	}
}
