using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using System.Threading.Tasks;

// Both ends of a TLS connection, with a certificate that nobody has signed but itself.
static class Tls
{
	// openssl req -x509 -newkey rsa:2048 -nodes -days 36500 -subj /CN=localhost | openssl pkcs12 -export -passout pass:test
	// -certpbe PBE-SHA1-3DES -keypbe PBE-SHA1-3DES -macalg sha1
	const string Pfx = @"
MIIJaQIBAzCCCS8GCSqGSIb3DQEHAaCCCSAEggkcMIIJGDCCA88GCSqGSIb3DQEHBqCCA8AwggO8AgEAMIIDtQYJKoZIhvcNAQcBMBwGCiqGSIb3
DQEMAQMwDgQI8TuS9UTxISoCAggAgIIDiOEIRnRCbf4yFGkdWpKmHPbCosJr1RVArUeQFpU35Zima0af9IJTwfq7r5fpRDJJJc29xYfBqvvnmfL5
+s4OgcCrBvGInxDmik/cPOE+ERjzgx9yt4edOKp838l6I9qR3WBrwmNcv6+KIguqc4ov0NWHtmoZxk6mkUPrFI2dxXtZTcDKCGkNzWQJfPj9SZUx
NmqIPoYsxaeJ5YEGACsBVz9VgUrviLqm5BQGlTVIXO/I2VUrA/k3NhpQnRoN9Z1dQ5fTY2Tn48QL909UoQEafhY0OKCIBE6TQKbXQ+cXodIb+0zg
I1gvaRFJZXSWQg//TLcjYgzJw/ZkSOrYzreFdMbHfV3uIt7xXJFMUyRF1irUuGzoVU0ww9bbHDAYWIu+XW4QUcaDJFEf5j5JeuiZ4+D4mQIu2Dys
M/uZhSWVJ+Ow45nhsd1FG8D6TgqopXBBa/Wrh5Z/e17NOMUEtt9Xr8jgK2siY/ZpwngSdA1XioUKgY+els+oetDuwON/fVlLJWlRwx9BFCCHI2At
emZWIfdJNKbHNYxzsYa3gTJrNdTyn6ygExy6bHAplJXCI7A/BJMMuYF6r9Ifv94Nh5ZzjH19GF0Snq09/BaYGJlYJCnsNMMa4a1tKr8X5+idoKj5
ayZz1r4bYV5PLlIkOHRfY5D5EfEMgFCSPQJ0hg7iRnnS4oZqTa6yx+0WkUSHRXXjgvow1jyRqi52kFxgsjpLMBHitH+P+92PErjrak60NBkNRngW
QtJJ2AwwGDERWHxgHAy7gWtSBjrTaWvxk/h1rGuqNyoO4N+6fdB0zBM2JZqsk/R2ftF1iISSeGGB2Xhj3OWI7LWyZm6KVTyOwCCEjOAz8HTUqhKv
8C9zbM9IoyoJwAiWleIQRZrWRV4RNBYkPC9RgkuKwIhhI4VRhleh/FZCy0KZofmgoXNhL+bGGDJ2uXEbU1TS/Mi/QEfSApjOvG0P1DR+FIA0g4H5
Fy8Hm4rHN8amVIh5weKu4aghXY631mwobUPuD/p1surpfmuert99a/jkup1zMlQJNTVwsl+R/SNu20vxVaz+ov7qOvRlbuhkNHA4YgCLNqwjjVIn
H13689j0hmsNgJudWZEl3ZQyrZ4PUugd5XTef4MwrHyux5H9yvfvOuiwjjMHTAMOXxddN2HEryhPM3OO1jAUNx58vyCeCwrt1dSqoj1SZeROWKa2
KfwUFSYwggVBBgkqhkiG9w0BBwGgggUyBIIFLjCCBSowggUmBgsqhkiG9w0BDAoBAqCCBO4wggTqMBwGCiqGSIb3DQEMAQMwDgQIdMQh/0lj/MEC
AggABIIEyMBOUku4Rb3ID0X1qRtv5kJWIRhdFohVFh14NN/TMI/1/4fcnYz7tpyANBpIleHpB4ZJ/H5kIi5JuzvXKpn8wJKR0CpH6ZOYEVTVzaEq
alJ2/vLvZG55484PE5IEZDLT/GBkn2z/bvjyHXD1BKctY0jmvhEYGcdsUMtayaJ8BZMoAQL7fzrI6fuTVJ9/SPNcvZrrk8l06HsJD1swv2cZzj41
JQv/rTYcgDcBmTrKoeoquEzfgBfr/y+Rtz1MdQkNX9vqIW2jkeJ9vppLkLtSFbQp9VK3EZPIzZ8LcK6HYpI6NMyX15qmbuatKLj/4Ba15KqzXAW0
3zbdeuS6WGadPm0sOvKFEYZNz6JDGjrvf6D116eLSgMda5zNWOC46AuZm1eCBImh7Vo/OBppwkeqyKw3eox1znApiuZFU6eAFBEovGb5sHYv1K0g
0lD/j4SmzxMZa0t9VaRZAtpBowkfTmkN3R6C+2r4w9Hyrm/lfnXLYgvhC+EvrjzNPvPPX46S1VEmlXa9iCof627LjQr+gJeI5oBek6Q4EMWqEsj1
FY/sWdEChBYbR2lcK9jvDHXjB0+4ENmLmQg0OSnS9f8OVvg+NuS4aHb2xRea1zv1bQntCl9WVxI3bUymwhk+FFfDCD2nclgruCgBPx4gRCkLlBGO
q2t1LkcajYTbEdO6QRC+/ybTvuoxRZhzVP5nA57wZl894W4/gcvYDAIxuwnorblxwPsRjwRbgtNRb+yIsg0UaIpUrNbkCejezp7z7ukjb7UTLatT
6JMPWIxBP4+8VorWssgFt7gMD4RTOOT5UbJJGgJa4bdafggOLuf1VftyFNjvhtJ3VX7FK5WRIRZrvDBlMY/dc7j9AncAcKKNjShY9ng9JdSgSt9d
fHic4qhxjUKKLrEiTLqEnT4GuNjJevEfoBUMCRnALUfiUdgQS1benYjWYu8MtDdGaxSYv5fCTKtrmcoAMYbSMcBD9xM0y9G8AbWq9jNEHRs7znL0
O6F/+r//2xJNQYxbtWt8CeNkeJsWJJfJmqvpqf2JWqN7fQ2Ql4KFkJSMCb2iqY+cPder9sFExFFBaI7/fdYGFJ9IhLfK9t3q9UPGGL6+EWCH5rrk
pFe4Ic0HIPLe3izbdPcEvWytb7dOAKUJ/InfjjJaDHGve5COtGGRjx6t8ecDDvwzWJ9v6lq3AHEsBj2DNeEYS5682b+v+mFQFP17NIAkBmL/Hk/0
CRTTkOebKSD7Tovi5wSApI8uBFj5NOV9v2/DGEwALkjwEpgF+ne6p7EHzZmCvauh416wY6kko8e4mMK7X+XOFzL+IjVpb1Xo+ae3RSJofj9XKqIu
pWrpAzjhoxQLG1HFZbm4B5nPN4W2rjjrElTNJngl80UfTmZB90sPeuFyKE3W+p0AIv4GTGGKv3/Bh0+bkJ3E//uOEINW0ZiEjS/90AcpH2QbeMkY
pyqDeEEJT3LzQAN2GXbq4qYycNSjZ9OV1eIum+9MHViG90YRNARRrHLK52EhOLwtjmNdM4aRUsb0UUgCuscBLI2eKtNt1cVWm9u2dOPB/P2pFnsL
tfjacvWkeDxIJUhjKnVrpKY1l8O6YT+rw78Gq/vkoRsV3kmBSKwo8Ao7c0gV6We82m1LlI5W+TElMCMGCSqGSIb3DQEJFTEWBBRS9KeDN7ZhZ+M5
DOu9BY0guBrt8DAxMCEwCQYFKw4DAhoFAAQUgu0W+JsS+p7QDgZ/hn583MGQWXAECGVwZ2UfIv7mAgIIAA==";

	static async Task Serve (TcpListener listener, X509Certificate2 certificate)
	{
		using (var client = await listener.AcceptTcpClientAsync ())
		using (var tls = new SslStream (client.GetStream ())) {
			try {
				await tls.AuthenticateAsServerAsync (certificate, false, SslProtocols.Tls12, false);
				var reader = new StreamReader (tls);
				var writer = new StreamWriter (tls) { AutoFlush = true };
				string line;
				while ((line = await reader.ReadLineAsync ()) != null)
					await writer.WriteLineAsync ("secret " + line.Length);
			} catch (IOException) {
			} catch (AuthenticationException) {
			}
		}
	}

	static void Main ()
	{
		var certificate = new X509Certificate2 (Convert.FromBase64String (Pfx), "test");
		Console.WriteLine ("{0} {1}", certificate.Subject, certificate.HasPrivateKey);
		var listener = new TcpListener (IPAddress.Loopback, 0);
		listener.Start ();
		var end = (IPEndPoint) listener.LocalEndpoint;

		var serving = Serve (listener, certificate);
		using (var client = new TcpClient ()) {
			client.Connect (end);
			using (var tls = new SslStream (client.GetStream (), false, (sender, c, chain, errors) => { Console.WriteLine (errors); return true; })) {
				tls.AuthenticateAsClient ("localhost", null, SslProtocols.Tls12, false);
				Console.WriteLine ("{0} {1} {2} {3}", tls.IsAuthenticated, tls.IsEncrypted, tls.SslProtocol, tls.RemoteCertificate.GetCertHashString () == certificate.GetCertHashString ());
				var reader = new StreamReader (tls);
				var writer = new StreamWriter (tls) { AutoFlush = true };
				foreach (int n in new [] { 0, 1, 1000, 100000 }) {
					writer.WriteLine (new string ('x', n));
					Console.WriteLine (reader.ReadLine ());
				}
			}
		}
		serving.Wait ();

		serving = Serve (listener, certificate);
		using (var client = new TcpClient ()) {
			client.Connect (end);
			using (var tls = new SslStream (client.GetStream ()))
				try {
					tls.AuthenticateAsClient ("localhost");
				} catch (AuthenticationException) {
					Console.WriteLine ("not trusted");
				}
		}
		serving.Wait ();

		// Many at once, on threads of the pool.
		var servers = Enumerable.Range (0, 10).Select (i => Serve (listener, certificate)).ToArray ();
		var clients = Enumerable.Range (0, 10).Select (async i => {
			using (var client = new TcpClient ()) {
				await client.ConnectAsync (end.Address, end.Port);
				using (var tls = new SslStream (client.GetStream (), false, (sender, c, chain, errors) => true)) {
					await tls.AuthenticateAsClientAsync ("localhost", null, SslProtocols.Tls12, false);
					var writer = new StreamWriter (tls) { AutoFlush = true };
					await writer.WriteLineAsync (new string ('y', i));
					return (await new StreamReader (tls).ReadLineAsync ()).Length;
				}
			}
		}).ToArray ();
		Console.WriteLine (Task.WhenAll (clients).Result.Sum ());
		Task.WaitAll (servers);
	}
}
