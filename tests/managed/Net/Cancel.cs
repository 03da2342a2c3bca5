using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

// Thousands of blocked operations are ended by closing their socket, at every moment of their beginning.
static class Cancel
{
	const int Rounds = 1500, Pairs = 2;

	static void Run (int seed)
	{
		var any = new IPEndPoint (IPAddress.Loopback, 0);
		var random = new Random (seed);
		var begun = new SemaphoreSlim (0);
		Socket current = null;
		bool done = false;
		var ended = new SemaphoreSlim (0);
		int bad = 0;
		var thread = new Thread (() => {
			var b = new byte [1];
			for (;;) {
				begun.Wait ();
				if (done)
					return;
				try {
					current.Receive (b);
					bad++;
				} catch (ObjectDisposedException) {
				} catch (SocketException e) {
					if (e.ErrorCode != 10004 && e.ErrorCode != 10035)
						bad++;
				}
				ended.Release ();
			}
		});
		thread.Start ();
		for (int i = 0; i < Rounds; i++) {
			current = new Socket (AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
			current.Bind (any);
			begun.Release ();
			Thread.SpinWait (random.Next (3000));
			current.Close ();
			if (!ended.Wait (10000)) {
				Console.WriteLine ("round {0} hangs", i);
				Environment.Exit (1);
			}
		}
		done = true;
		begun.Release ();
		thread.Join ();
		lock (typeof (Cancel))
			Console.WriteLine (bad); // expect: 0
		// expect: 0
	}

	static void Main ()
	{
		var threads = new Thread [Pairs];
		for (int i = 0; i < Pairs; i++) {
			int seed = i;
			(threads [i] = new Thread (() => Run (seed))).Start ();
		}
		foreach (var t in threads)
			t.Join ();
	}
}
