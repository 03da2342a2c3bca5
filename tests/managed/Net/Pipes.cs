using System;
using System.IO;
using System.IO.Pipes;
using System.Threading.Tasks;

// Named and anonymous pipes.
static class Pipes
{
	static string Name ()
	{
		return "vervet" + Guid.NewGuid ().ToString ("N").Substring (0, 12);
	}

	static void Main ()
	{
		string name = Name ();
		using (var server = new NamedPipeServerStream (name, PipeDirection.InOut)) {
			var serving = Task.Run (() => {
				for (int i = 0; i < 2; i++) {
					server.WaitForConnection ();
					var reader = new StreamReader (server);
					var writer = new StreamWriter (server) { AutoFlush = true };
					writer.WriteLine ("got " + reader.ReadLine ());
					// The client goes first, and takes what it was sent with it.
					reader.ReadLine ();
					server.Disconnect ();
				}
			});
			for (int i = 0; i < 2; i++)
				using (var client = new NamedPipeClientStream (".", name, PipeDirection.InOut)) {
					client.Connect (5000);
					var writer = new StreamWriter (client) { AutoFlush = true };
					writer.WriteLine ("hello " + i);
					Console.WriteLine (new StreamReader (client).ReadLine ());
				}
			serving.Wait ();
		}

		name = Name ();
		using (var server = new NamedPipeServerStream (name, PipeDirection.InOut, 1, PipeTransmissionMode.Byte, PipeOptions.Asynchronous))
		using (var client = new NamedPipeClientStream (".", name, PipeDirection.InOut, PipeOptions.Asynchronous)) {
			var waiting = server.WaitForConnectionAsync ();
			client.ConnectAsync ().Wait ();
			waiting.Wait ();
			var b = new byte [5];
			var read = server.ReadAsync (b, 0, 5);
			client.WriteAsync (new byte [3], 0, 3).Wait ();
			Console.WriteLine (read.Result);
			read = client.ReadAsync (b, 0, 5);
			server.Dispose ();
			Console.WriteLine (read.Result);
		}
		try {
			new NamedPipeClientStream (Name ()).Connect (50);
		} catch (TimeoutException) {
			Console.WriteLine ("nobody there");
		}

		using (var to = new AnonymousPipeServerStream (PipeDirection.Out, HandleInheritability.Inheritable))
		using (var from = new AnonymousPipeClientStream (PipeDirection.In, to.ClientSafePipeHandle)) {
			to.WriteByte (7);
			Console.WriteLine (from.ReadByte ());
		}
	}
}
