// tiers: all
// ReadLine finds the end of a line at once where the reader has it at hand; lines of all lengths and ends, across buffers of all sizes, are those of the loop.
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;

static class ReadLines
{
    static ulong sum = 14695981039346656037;
    static void Add(string text)
    {
        if (text == null)
        {
            sum = (sum ^ 0xffff1) * 1099511628211;
            return;
        }
        foreach (char c in text) sum = (sum ^ c) * 1099511628211;
        sum = (sum ^ (ulong)(text.Length + 0x10000)) * 1099511628211;
    }
    static void Print(string what)
    {
        Console.WriteLine(what + " " + sum.ToString("x16"));
        sum = 14695981039346656037;
    }
    static string Error(Action action)
    {
        try
        {
            action();
            return "no error";
        }
        catch (Exception e)
        {
            return e.GetType().Name + ": " + e.Message.Replace("\n", " | ");
        }
    }

    static readonly string[] Ends = { "\n", "\r\n", "\r", "\n\n", "\r\r\n", "\n\r", "" };

    static string Text()
    {
        var text = new StringBuilder();
        for (int length = 0; length < 150; length++)
        {
            text.Append((char)('a' + length % 26), length);
            if (length % 5 == 0) text.Append("\u00e9\u20ac\0\u0085\u2028");
            text.Append(Ends[length % Ends.Length]);
        }
        return text.ToString();
    }

    static void All(TextReader reader)
    {
        string line;
        int n = 0;
        while ((line = reader.ReadLine()) != null)
        {
            Add(line);
            // What else reads goes on where the line has ended.
            if (++n % 7 == 0) Add(((char)reader.Peek()).ToString());
            if (n % 11 == 0) Add(((char)reader.Read()).ToString());
        }
        Add(reader.ReadLine());
        Add(reader.Read().ToString());
    }

    sealed class Shouting : StringReader
    {
        public Shouting(string text) : base(text) { }
        public override string ReadLine()
        {
            string line = base.ReadLine();
            return line == null ? null : line.ToUpperInvariant();
        }
    }

    /// Gives at most so many bytes at a time.
    sealed class Slow : MemoryStream
    {
        readonly int most;
        public Slow(byte[] bytes, int most) : base(bytes) { this.most = most; }
        public override int Read(byte[] buffer, int offset, int count) { return base.Read(buffer, offset, Math.Min(count, most)); }
    }

    static void Main()
    {
        string text = Text();
        for (int from = 0; from < 300; from++) All(new StringReader(text.Substring(from * 7)));
        Print("strings");
        foreach (string end in Ends)
            foreach (string rest in new[] { "", "\n", "\r", "x", "\nx" })
                for (int length = 0; length < 40; length++) All(new StringReader(new string('.', length) + end + rest));
        Print("ends");
        All(new Shouting(text));
        Print("override");
        var bytes = Encoding.UTF8.GetBytes(text);
        foreach (int buffer in new[] { 1, 128, 129, 131, 200, 1024, 100000 })
            foreach (int most in new[] { 1, 2, 3, 10, 127, 128, 1000, 100000 })
            {
                All(new StreamReader(new Slow(bytes, most), Encoding.UTF8, false, buffer));
                All(new StreamReader(new Slow(bytes, most), new UTF8Encoding(true, true), true, buffer));
            }
        Print("streams");
        // Lines longer than what is looked at without a pause.
        var lines = new StringBuilder();
        foreach (int length in new[] { 32767, 32768, 32769, 70000, 5, 200000 }) lines.Append('y', length).Append("\r\n");
        All(new StringReader(lines.ToString()));
        All(new StreamReader(new MemoryStream(Encoding.ASCII.GetBytes(lines.ToString())), Encoding.ASCII, false, 100000));
        Print("long");
        string file = Path.GetTempFileName();
        File.WriteAllText(file, text);
        foreach (var line in File.ReadAllLines(file)) Add(line);
        foreach (var line in File.ReadLines(file)) Add(line);
        File.Delete(file);
        Print("files");

        var closed = new StringReader("a line that is not read\n");
        closed.Dispose();
        Console.WriteLine(Error(() => closed.ReadLine()));
        var stream = new StreamReader(new MemoryStream(bytes));
        stream.ReadLine();
        stream.Dispose();
        Console.WriteLine(Error(() => stream.ReadLine()));
        Console.WriteLine(Error(() => new StringReader(null)));
        Console.WriteLine(StreamReader.Null.ReadLine() == null);
        Console.WriteLine(TextReader.Synchronized(new StringReader("synchronized and long enough\nnext")).ReadLine());
        // A read that has not ended, and what has been read meanwhile.
        var pipe = new Waiting();
        var waiting = new StreamReader(pipe, Encoding.ASCII, false, 128);
        Console.WriteLine(waiting.ReadLine());
        var task = waiting.ReadToEndAsync();
        Console.WriteLine(task.IsCompleted + " " + Error(() => waiting.ReadLine()));
        pipe.End.SetResult(0);
        Console.WriteLine(task.Result.Replace("\n", "|"));
        Console.WriteLine(waiting.ReadLine() == null);
    }

    /// Its second read does not end before it is told to.
    sealed class Waiting : Stream
    {
        public readonly System.Threading.Tasks.TaskCompletionSource<int> End = new System.Threading.Tasks.TaskCompletionSource<int>();
        bool given;
        public override bool CanRead { get { return true; } }
        public override bool CanSeek { get { return false; } }
        public override bool CanWrite { get { return false; } }
        public override long Length { get { return 0; } }
        public override long Position { get; set; }
        public override void Flush() { }
        public override long Seek(long offset, SeekOrigin origin) { return 0; }
        public override void SetLength(long length) { }
        public override void Write(byte[] buffer, int offset, int count) { }
        public override int Read(byte[] buffer, int offset, int count)
        {
            if (given) return 0;
            given = true;
            return Encoding.ASCII.GetBytes("the first line of these\nthe second line of these\nthe third line", 0, 63, buffer, offset);
        }
        public override System.Threading.Tasks.Task<int> ReadAsync(byte[] buffer, int offset, int count, System.Threading.CancellationToken token) { return End.Task; }
    }
}
