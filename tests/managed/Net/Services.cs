using System;
using System.Net;
using System.Net.NetworkInformation;
using System.Threading.Tasks;

// What else speaks over sockets: pings, FTP and web requests that find nobody.
static class Services
{
	static void Main ()
	{
		var reply = new Ping ().Send ("127.0.0.1", 3000);
		Console.WriteLine ("{0} {1}", reply.Status, reply.Address);
		reply = new Ping ().SendPingAsync (IPAddress.Loopback, 3000).Result;
		Console.WriteLine (reply.Status);
		try {
			WebRequest.Create ("ftp://127.0.0.1:1/x").GetResponse ();
		} catch (WebException e) {
			Console.WriteLine (e.Status);
		}
		try {
			new WebClient ().DownloadString ("ftp://127.0.0.1:1/x");
		} catch (WebException e) {
			Console.WriteLine (e.Status);
		}
		using (var smtp = new System.Net.Mail.SmtpClient ("127.0.0.1", 1))
			Console.WriteLine ("{0} {1}", smtp.Host, smtp.Port);
	}
}
