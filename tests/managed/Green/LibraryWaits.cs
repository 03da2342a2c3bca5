// grafts:
// mcs: -r:System.dll -r:Mono.Security.dll
// timeout: 120
// Waits that code of the class library has inside: TLS, HTTP requests, lines of the console. Each is of many green threads at once, and others go on meanwhile.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using Mono.Security.X509;

static class LibraryWaits
{
    static void Wait(string what, Task[] all)
    {
        bool ended = Task.WaitAll(all, 90000);
        Console.WriteLine(what + ": " + (ended ? "ok" : all.Count(t => !t.IsCompleted) + " still wait"));
        if (!ended) Environment.Exit(3);
    }

    // ---- TLS: both ends of each connection are green threads that block ------------------------------------------------

    static System.Security.Cryptography.X509Certificates.X509Certificate2 Certificate()
    {
        var key = new RSACryptoServiceProvider(1024);
        var builder = new X509CertificateBuilder(3) {
            SerialNumber = new byte[] { 1, 2, 3, 4 }, IssuerName = "CN=localhost", SubjectName = "CN=localhost",
            NotBefore = new DateTime(2020, 1, 1), NotAfter = new DateTime(2090, 1, 1), SubjectPublicKey = key, Hash = "SHA256",
        };
        var file = new PKCS12 { Password = "green" };
        file.AddCertificate(new Mono.Security.X509.X509Certificate(builder.Sign(key)));
        file.AddPkcs8ShroudedKeyBag(key);
        // Of one key in fifty the class library finds no private key again, on mono too.
        var made = new X509Certificate2(file.GetBytes(), "green");
        return made.PrivateKey != null ? made : Certificate();
    }

    static void Tls(int count)
    {
        var certificate = Certificate();
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(count);
        int answered = 0, green = 0;
        var servers = Task.RunAsGreenThread(() => {
            for (int i = 0; i < count; i++) {
                var client = listener.AcceptTcpClient();
                Task.RunAsGreenThread(() => {
                    using (var tls = new SslStream(client.GetStream())) {
                        tls.AuthenticateAsServer(certificate, false, SslProtocols.Tls12, false);
                        var reader = new StreamReader(tls);
                        var writer = new StreamWriter(tls) { AutoFlush = true };
                        string line;
                        while ((line = reader.ReadLine()) != null) writer.WriteLine("<" + line + ">");
                    }
                });
            }
        });
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        var clients = Enumerable.Range(0, count).Select(i => Task.RunAsGreenThread(() => {
            using (var client = new TcpClient("127.0.0.1", port))
            using (var tls = new SslStream(client.GetStream(), false, (s, c, chain, errors) => true)) {
                tls.AuthenticateAsClient("localhost", null, SslProtocols.Tls12, false);
                var reader = new StreamReader(tls);
                var writer = new StreamWriter(tls) { AutoFlush = true };
                for (int n = 0; n < 5; n++) {
                    string text = i + "." + n + new string('x', n * 1000);
                    writer.WriteLine(text);
                    if (reader.ReadLine() == "<" + text + ">") Interlocked.Increment(ref answered);
                }
                if (Thread.IsGreenThread) Interlocked.Increment(ref green);
            }
        })).Append(servers).ToArray();
        Wait("TLS", clients);
        Console.WriteLine("TLS: {0} answers, {1} on green threads", answered, green);
        listener.Stop();
    }

    // ---- HTTP: requests that wait for answers, and a listener that answers them late ----------------------------------------

    static void Http(int count)
    {
        var listener = new HttpListener();
        int port = 0;
        // (A port that is free now may not be a moment later.)
        for (int tries = 0; ; tries++) {
            var probe = new TcpListener(IPAddress.Loopback, 0);
            probe.Start();
            port = ((IPEndPoint)probe.LocalEndpoint).Port;
            probe.Stop();
            try {
                listener.Prefixes.Clear();
                listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
                listener.Start();
                break;
            } catch (Exception) when (tries < 20) { listener = new HttpListener(); }
        }
        ServicePointManager.DefaultConnectionLimit = count;
        int good = 0;
        var serving = Task.RunAsGreenThread(() => {
            for (int i = 0; i < count; i++) {
                var context = listener.GetContext();
                Task.RunAsGreenThread(() => {
                    Thread.Sleep(50);
                    var body = Encoding.UTF8.GetBytes("answer to " + context.Request.Url.AbsolutePath);
                    context.Response.ContentLength64 = body.Length;
                    context.Response.OutputStream.Write(body, 0, body.Length);
                    context.Response.Close();
                });
            }
        });
        var clients = Enumerable.Range(0, count).Select(i => Task.RunAsGreenThread(() => {
            var request = (HttpWebRequest)WebRequest.Create("http://127.0.0.1:" + port + "/" + i);
            request.Proxy = null;
            using (var response = request.GetResponse())
            using (var reader = new StreamReader(response.GetResponseStream()))
                if (reader.ReadToEnd() == "answer to /" + i) Interlocked.Increment(ref good);
        })).Append(serving).ToArray();
        Wait("HTTP", clients);
        Console.WriteLine("HTTP: {0} answers", good);
        listener.Stop();
    }

    // ---- the console: a green thread waits for a line while others run -----------------------------------------------------------

    static void Child()
    {
        int turns = 0;
        var reader = Task.RunAsGreenThread(() => {
            string all = "", line;
            while ((line = Console.ReadLine()) != null) all += "[" + line + "]";
            return all + (Thread.IsGreenThread ? " green" : "");
        });
        // The reader holds no carrier: as many green threads as processors, and more, take turns meanwhile.
        var others = Enumerable.Range(0, 2 * Environment.ProcessorCount).Select(i => Task.RunAsGreenThread(() => {
            for (int n = 0; n < 100; n++) { Interlocked.Increment(ref turns); Thread.Sleep(0); }
        })).ToArray();
        Task.WaitAll(others);
        Console.WriteLine("turns " + turns / Environment.ProcessorCount);
        Console.WriteLine(reader.Result);
    }

    static void Lines()
    {
        var start = new ProcessStartInfo(Process.GetCurrentProcess().MainModule.FileName, typeof(LibraryWaits).Assembly.Location + " child") {
            RedirectStandardInput = true, RedirectStandardOutput = true, UseShellExecute = false,
        };
        using (var child = Process.Start(start)) {
            // Nothing is typed before the others have had their turns.
            Console.WriteLine(child.StandardOutput.ReadLine());
            child.StandardInput.WriteLine("one");
            child.StandardInput.WriteLine("two");
            child.StandardInput.Close();
            Console.WriteLine(child.StandardOutput.ReadLine());
            child.WaitForExit();
            Console.WriteLine("exit code " + child.ExitCode);
        }
    }

    static void Main(string[] args)
    {
        if (args.Length > 0) { Child(); return; }
        Tls(24);
        Http(12);
        Lines();
    }
}
