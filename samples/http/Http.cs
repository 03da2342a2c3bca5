// What the three servers share: the requests in the bytes of a connection, and the answer. It knows nothing of threads.
using System;
using System.Net;
using System.Net.Sockets;
using System.Text;

/// <summary>The bytes of a connection that have been received and not been answered yet.</summary>
sealed class Requests
{
    byte[] bytes = new byte[1024];
    int start, end;

    /// <summary>Room for the next bytes; there always is some.</summary>
    public byte[] Bytes { get { return bytes; } }
    public int Offset { get { return end; } }
    public int Room { get { return bytes.Length - end; } }

    /// <summary>So many bytes have been received into the room.</summary>
    public void Received(int count)
    {
        end += count;
    }

    /// <summary>Takes the next whole request; without one, makes room for more bytes.</summary>
    public bool TryTake(out Request request)
    {
        int head = Find(start, "\r\n\r\n");
        if (head >= 0) {
            string text = Encoding.ASCII.GetString(bytes, start, head - start);
            request = new Request(text);
            if (end - head - 4 >= request.ContentLength) {
                start = head + 4 + request.ContentLength;
                return true;
            }
        }
        Buffer.BlockCopy(bytes, start, bytes, 0, end - start);
        end -= start;
        start = 0;
        if (end == bytes.Length) {
            if (end >= 1 << 20)
                throw new ProtocolViolationException("a request of more than a megabyte");
            Array.Resize(ref bytes, 2 * end);
        }
        request = default(Request);
        return false;
    }

    int Find(int from, string text)
    {
        for (int i = from; i + text.Length <= end; i++) {
            int n = 0;
            while (n < text.Length && bytes[i + n] == text[n]) n++;
            if (n == text.Length) return i;
        }
        return -1;
    }
}

/// <summary>One request: `GET /path HTTP/1.1` and its header lines.</summary>
struct Request
{
    public readonly string Path;
    public readonly int ContentLength;
    public readonly bool KeepAlive;

    public Request(string head)
    {
        int lineEnd = head.IndexOf("\r\n", StringComparison.Ordinal);
        string line = lineEnd < 0 ? head : head.Substring(0, lineEnd);
        string[] words = line.Split(' ');
        if (words.Length != 3 || !words[2].StartsWith("HTTP/1.", StringComparison.Ordinal))
            throw new ProtocolViolationException("no request: " + line);
        Path = words[1];
        int length;
        ContentLength = int.TryParse(Header(head, "Content-Length") ?? "0", out length) && length >= 0 ? length : 0;
        string connection = Header(head, "Connection");
        KeepAlive = connection == null
            ? words[2] == "HTTP/1.1"
            : !connection.Equals("close", StringComparison.OrdinalIgnoreCase);
    }

    static string Header(string head, string name)
    {
        int at = head.IndexOf("\r\n" + name + ":", StringComparison.OrdinalIgnoreCase);
        if (at < 0) return null;
        int from = at + 3 + name.Length, to = head.IndexOf("\r\n", from, StringComparison.Ordinal);
        return head.Substring(from, (to < 0 ? head.Length : to) - from).Trim();
    }
}

static class Http
{
    static readonly byte[] hello = Answer("200 OK", "Hello, World!"), unknown = Answer("404 Not Found", "not here\n");

    static byte[] Answer(string status, string body)
    {
        return Encoding.ASCII.GetBytes("HTTP/1.1 " + status + "\r\nServer: sample\r\nContent-Type: text/plain\r\n" +
            "Content-Length: " + body.Length + "\r\n\r\n" + body);
    }

    public static byte[] Respond(Request request)
    {
        return request.Path == "/plaintext" ? hello : unknown;
    }

    /// <summary>A socket that listens on the port that the program's argument names, 8080 without one.</summary>
    public static Socket Listen(string[] args)
    {
        int port = args.Length > 0 ? int.Parse(args[0]) : 8080;
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
        listener.Listen(4096);
        Console.WriteLine("http://127.0.0.1:" + ((IPEndPoint)listener.LocalEndPoint).Port + "/plaintext");
        return listener;
    }
}
