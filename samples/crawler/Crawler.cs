// A crawler with a green thread for each page, and the site that it crawls: some pages of links, each answered after a while, from a
// HttpListener with a green thread for each request. All of it is blocking code.
//
//   vervet run samples/crawler/Crawler.cs -- 1000 50        pages, and milliseconds until a page is answered
using System;
using System.Collections.Concurrent;
using System.Diagnostics;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

/// <summary>Page n links to pages 2n + 1, 2n + 2 and some earlier ones. Page 0 leads to all.</summary>
sealed class Site
{
    readonly HttpListener listener = new HttpListener();
    readonly int pages, delay;

    public Site(string root, int pages, int delay)
    {
        this.pages = pages;
        this.delay = delay;
        listener.Prefixes.Add(root);
        listener.Start();
    }

    public void Serve()
    {
        while (true) {
            var context = listener.GetContext();
            Task.RunAsGreenThread(() => Answer(context));
        }
    }

    void Answer(HttpListenerContext context)
    {
        int page = int.Parse(context.Request.Url.AbsolutePath.Substring("/page".Length));
        Thread.Sleep(delay); // a database, say
        var text = new StringBuilder("<h1>Page " + page + "</h1>");
        foreach (int link in new[] { 2 * page + 1, 2 * page + 2, page / 2, page / 3 })
            if (link < pages) text.Append("<a href=\"/page" + link + "\">page " + link + "</a> ");
        byte[] bytes = Encoding.UTF8.GetBytes(text.ToString());
        context.Response.ContentLength64 = bytes.Length;
        context.Response.OutputStream.Write(bytes, 0, bytes.Length);
        context.Response.Close();
    }
}

sealed class Crawler
{
    static readonly Regex link = new Regex("href=\"([^\"]*)\"");

    readonly ConcurrentDictionary<Uri, int> lengths = new ConcurrentDictionary<Uri, int>();
    readonly CountdownEvent left = new CountdownEvent(1);
    // No more requests than the server should be asked for at once.
    readonly SemaphoreSlim permits = new SemaphoreSlim(200);

    public int Crawl(Uri start)
    {
        Visit(start);
        left.Signal();
        left.Wait();
        return lengths.Count;
    }

    // Every page has a thread that waits for it, whoever found the link.
    void Visit(Uri page)
    {
        if (!lengths.TryAdd(page, 0)) return;
        left.AddCount();
        Task.RunAsGreenThread(() => {
            try {
                string text = Download(page);
                lengths[page] = text.Length;
                foreach (Match match in link.Matches(text)) Visit(new Uri(page, match.Groups[1].Value));
            }
            catch (IOException e) { Console.WriteLine(page + ": " + e.Message); }
            finally { left.Signal(); }
        });
    }

    string Download(Uri page)
    {
        permits.Wait();
        try {
            using (var connection = new TcpClient(page.Host, page.Port)) {
                var stream = connection.GetStream();
                byte[] request = Encoding.ASCII.GetBytes("GET " + page.PathAndQuery + " HTTP/1.0\r\nHost: " + page.Authority + "\r\n\r\n");
                stream.Write(request, 0, request.Length);
                string answer = new StreamReader(stream).ReadToEnd();
                if (answer.StartsWith("HTTP/1.1 200 ")) return answer.Substring(answer.IndexOf("\r\n\r\n") + 4);
                throw new IOException(answer.Split('\r')[0]);
            }
        }
        catch (SocketException e) { throw new IOException(e.Message); }
        finally { permits.Release(); }
    }
}

static class Program
{
    static void Main(string[] args)
    {
        int pages = args.Length > 0 ? int.Parse(args[0]) : 1000, delay = args.Length > 1 ? int.Parse(args[1]) : 50;
        string root = "http://127.0.0.1:" + FreePort() + "/";
        var site = new Site(root, pages, delay);
        Task.RunAsGreenThread(site.Serve);

        var watch = Stopwatch.StartNew();
        int found = new Crawler().Crawl(new Uri(root + "page0"));
        Console.Error.WriteLine(watch.ElapsedMilliseconds + " ms; one after the other it would be " + pages * delay + " ms at least");
        Console.WriteLine(found + " pages");
        Environment.Exit(found == pages ? 0 : 1);
    }

    static int FreePort()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        listener.Stop();
        return port;
    }
}
