// mcs: -r:System.Net.Http.dll
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

// HttpListener and all that speaks to it, in one process.
static class Http
{
	static int FreePort ()
	{
		var l = new TcpListener (IPAddress.Loopback, 0);
		l.Start ();
		int port = ((IPEndPoint) l.LocalEndpoint).Port;
		l.Stop ();
		return port;
	}

	static void Answer (HttpListenerContext context)
	{
		var request = context.Request;
		string body = new StreamReader (request.InputStream).ReadToEnd ();
		var response = context.Response;
		switch (request.Url.AbsolutePath) {
		case "/missing":
			response.StatusCode = 404;
			break;
		case "/moved":
			response.Redirect ("/target");
			break;
		case "/chunks":
			response.SendChunked = true;
			for (int i = 0; i < 100; i++)
				response.OutputStream.Write (Encoding.ASCII.GetBytes (new string ('x', 1000)), 0, 1000);
			break;
		default:
			response.Headers ["X-Test"] = request.Headers ["X-Test"];
			var bytes = Encoding.UTF8.GetBytes (request.HttpMethod + " " + request.RawUrl + " " + body);
			response.ContentLength64 = bytes.Length;
			response.OutputStream.Write (bytes, 0, bytes.Length);
			break;
		}
		response.Close ();
	}

	static string Text (WebResponse response)
	{
		using (response)
			return new StreamReader (response.GetResponseStream ()).ReadToEnd ();
	}

	static void Main ()
	{
		int port = FreePort ();
		string root = "http://127.0.0.1:" + port;
		var listener = new HttpListener ();
		listener.Prefixes.Add (root + "/");
		listener.Start ();
		var server = new Thread (() => {
			try {
				for (;;) {
					var context = listener.GetContext ();
					ThreadPool.QueueUserWorkItem (_ => Answer (context));
				}
			} catch (Exception e) {
				Console.WriteLine ("server: " + e.GetType ().Name);
			}
		});
		server.Start ();

		var request = (HttpWebRequest) WebRequest.Create (root + "/a?b=c");
		request.Headers ["X-Test"] = "seen";
		var response = (HttpWebResponse) request.GetResponse ();
		Console.WriteLine ("{0} {1} {2}", response.StatusCode, response.Headers ["X-Test"], Text (response));
		request = (HttpWebRequest) WebRequest.Create (root + "/post");
		request.Method = "POST";
		using (var w = new StreamWriter (request.GetRequestStream ()))
			w.Write (new string ('y', 20000));
		Console.WriteLine (Text (request.GetResponse ()).Length);
		Console.WriteLine (Text (WebRequest.Create (root + "/moved").GetResponse ()));
		try {
			WebRequest.Create (root + "/missing").GetResponse ();
		} catch (WebException e) {
			Console.WriteLine ("{0} {1}", e.Status, ((HttpWebResponse) e.Response).StatusCode);
		}
		try {
			WebRequest.Create ("http://127.0.0.1:1/").GetResponse ();
		} catch (WebException e) {
			Console.WriteLine ("{0} {1}", e.Status, e.Message);
		}

		var client = new WebClient ();
		Console.WriteLine (client.DownloadString (root + "/chunks").Length);
		Console.WriteLine (client.UploadString (root + "/up", "hello"));
		Console.WriteLine (client.DownloadStringTaskAsync (root + "/task").Result);

		using (var http = new HttpClient ()) {
			Console.WriteLine (http.GetStringAsync (root + "/client").Result);
			var post = http.PostAsync (root + "/post", new StringContent ("body")).Result;
			Console.WriteLine ("{0} {1}", post.StatusCode, post.Content.ReadAsStringAsync ().Result);
			Console.WriteLine (http.GetAsync (root + "/missing").Result.StatusCode);
			var many = Enumerable.Range (0, 30).Select (i => http.GetStringAsync (root + "/" + i)).ToArray ();
			Console.WriteLine (Task.WhenAll (many).Result.Sum (s => s.Length));
			try {
				http.GetStringAsync ("http://127.0.0.1:1/").Wait ();
			} catch (AggregateException e) {
				Console.WriteLine (e.InnerException.GetType ().Name);
			}
		}
		listener.Stop ();
		server.Join ();
	}
}
