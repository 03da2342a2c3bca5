// mcs: -unsafe
// Characters and bytes that are ASCII are converted without the class library; all else is as it does it: what comes before and behind other characters, encoders and
// decoders that keep something, fallbacks, buffers that are too short, and ranges that overlap.
using System;
using System.IO;
using System.Linq;
using System.Text;

static class TextConversions
{
    static ulong sum = 14695981039346656037;
    static void Add(ulong x) { sum = (sum ^ x) * 1099511628211; }
    static void Add(byte[] bytes)
    {
        foreach (byte b in bytes) Add(b);
        Add((ulong)bytes.Length);
    }
    static void Add(char[] chars)
    {
        foreach (char c in chars) Add(c);
        Add((ulong)chars.Length);
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

    static readonly string[] Others = { "", "\u00e9", "\u0080", "\u20ac", "\ud83d\ude00", "\ud83d", "\ude00", "\0", "\u007f", "\uffff" };
    static readonly byte[][] Bytes =
    {
        new byte[0], new byte[] { 0xc3, 0xa9 }, new byte[] { 0x80 }, new byte[] { 0xe2, 0x82, 0xac }, new byte[] { 0xf0, 0x9f, 0x98, 0x80 }, new byte[] { 0xf0, 0x9f },
        new byte[] { 0xff }, new byte[] { 0 }, new byte[] { 0x7f }, new byte[] { 0xc0, 0x80 }, new byte[] { 0xed, 0xa0, 0x80 },
    };
    static string Text(int length)
    {
        return new string(Enumerable.Range(0, length).Select(i => (char)(i * 7 % 128)).ToArray());
    }

    static void All(string name, Encoding encoding)
    {
        foreach (int length in new[] { 0, 1, 7, 8, 9, 31, 32, 33, 40, 63, 64, 65, 127, 130, 300 })
            foreach (string other in Others)
                foreach (int at in new[] { 0, 1, length / 2, length - 1, length })
                {
                    if (at < 0 || at > length) continue;
                    string text = Text(length).Insert(at, other);
                    try
                    {
                        Add((ulong)encoding.GetByteCount(text));
                        Add(encoding.GetBytes(text));
                        var to = Enumerable.Repeat((byte)0xee, 2 * length + 20).ToArray();
                        Add((ulong)encoding.GetBytes(text, 0, text.Length, to, 3));
                        Add(to);
                        Add((ulong)encoding.GetBytes(text.ToCharArray(), 0, text.Length, to, 1));
                        Add(to);
                    }
                    catch (EncoderFallbackException e)
                    {
                        Add((ulong)e.Index);
                    }
                }
        foreach (int length in new[] { 0, 1, 7, 8, 9, 31, 32, 33, 40, 63, 64, 65, 127, 130, 300 })
            foreach (var other in Bytes)
                foreach (int at in new[] { 0, 1, length / 2, length - 1, length })
                {
                    if (at < 0 || at > length) continue;
                    var ascii = Text(length).Select(c => (byte)c);
                    var bytes = ascii.Take(at).Concat(other).Concat(ascii.Skip(at)).ToArray();
                    try
                    {
                        Add((ulong)encoding.GetCharCount(bytes));
                        Add(encoding.GetString(bytes).ToCharArray());
                        var to = Enumerable.Repeat('\ueeee', length + 20).ToArray();
                        Add((ulong)encoding.GetChars(bytes, 0, bytes.Length, to, 2));
                        Add(to);
                    }
                    catch (DecoderFallbackException e)
                    {
                        Add((ulong)e.Index);
                    }
                }
        Print(name);
        // Coders, which get a text in pieces.
        var all = string.Concat(Others.Select(o => Text(50) + o + Text(20)));
        foreach (int piece in new[] { 1, 3, 8, 9, 20, 33, 50, 51, 70, 1000 })
            foreach (bool flush in new[] { false, true })
                try
                {
                    var encoder = encoding.GetEncoder();
                    for (int at = 0; at < all.Length; at += piece)
                    {
                        var chars = all.Substring(at, Math.Min(piece, all.Length - at)).ToCharArray();
                        Add((ulong)encoder.GetByteCount(chars, 0, chars.Length, flush));
                        var bytes = new byte[encoding.GetMaxByteCount(piece) + 5];
                        Add((ulong)encoder.GetBytes(chars, 0, chars.Length, bytes, 2, flush));
                        Add(bytes);
                    }
                    // Convert says how much it has used of what.
                    for (int at = 0; at < all.Length;)
                    {
                        int used, made;
                        bool completed;
                        var chars = all.ToCharArray();
                        var bytes = new byte[piece + 3];
                        encoder.Convert(chars, at, chars.Length - at, bytes, 0, bytes.Length, flush, out used, out made, out completed);
                        Add((ulong)used);
                        Add((ulong)made);
                        Add(completed ? 1ul : 0);
                        Add(bytes);
                        at += used;
                        if (used == 0) break;
                    }
                }
                catch (EncoderFallbackException e)
                {
                    Add((ulong)e.Index);
                }
        Print(name + " encoder");
        var mixed = Bytes.SelectMany(o => Text(50).Select(c => (byte)c).Concat(o).Concat(Text(20).Select(c => (byte)c))).ToArray();
        foreach (int piece in new[] { 1, 3, 8, 9, 20, 33, 50, 51, 70, 1000 })
            foreach (bool flush in new[] { false, true })
                try
                {
                    var decoder = encoding.GetDecoder();
                    for (int at = 0; at < mixed.Length; at += piece)
                    {
                        int count = Math.Min(piece, mixed.Length - at);
                        Add((ulong)decoder.GetCharCount(mixed, at, count, flush));
                        var chars = new char[encoding.GetMaxCharCount(piece) + 5];
                        Add((ulong)decoder.GetChars(mixed, at, count, chars, 2, flush));
                        Add(chars);
                    }
                    for (int at = 0; at < mixed.Length;)
                    {
                        int used, made;
                        bool completed;
                        var chars = new char[piece + 3];
                        decoder.Convert(mixed, at, mixed.Length - at, chars, 0, chars.Length, flush, out used, out made, out completed);
                        Add((ulong)used);
                        Add((ulong)made);
                        Add(completed ? 1ul : 0);
                        Add(chars);
                        at += used;
                        if (used == 0) break;
                    }
                }
                catch (DecoderFallbackException e)
                {
                    Add((ulong)e.Index);
                }
        Print(name + " decoder");
        // Buffers that are too short.
        var twenty = new byte[20];
        Console.WriteLine(name + " " + Error(() => encoding.GetBytes(Text(40), 0, 40, twenty, 0)));
        Add(twenty);
        Console.WriteLine(name + " " + Error(() => encoding.GetBytes(Text(20), 0, 20, twenty, 1)));
        Add(twenty);
        Console.WriteLine(name + " " + Error(() => encoding.GetBytes(Text(20), 1, 20, twenty, 0)));
        Console.WriteLine(name + " " + Error(() => encoding.GetBytes((string)null, 0, 20, twenty, 0)));
        var some = new char[20];
        Console.WriteLine(name + " " + Error(() => encoding.GetChars(new byte[40], 0, 40, some, 0)));
        Add(some);
        Console.WriteLine(name + " " + Error(() => encoding.GetChars(new byte[20], 0, 20, some, 1)));
        Console.WriteLine(name + " " + Error(() => encoding.GetString(new byte[20], 1, 20)));
        Print(name + " too short");
        unsafe
        {
            Pointers(name, encoding);
        }
        // Long ones, longer than what is looked at without a pause.
        string much = Text(200000);
        Add(encoding.GetBytes(much));
        Add(encoding.GetString(encoding.GetBytes(much)).ToCharArray());
        much = much.Insert(150000, "\u00e9");
        Console.WriteLine(name + " " + Error(() => Add(encoding.GetBytes(much))));
        Console.WriteLine(name + " " + Error(() => Add(encoding.GetString(Encoding.UTF8.GetBytes(much)).ToCharArray())));
        var stream = new MemoryStream();
        var writer = new StreamWriter(stream, encoding);
        for (int i = 0; i < 50; i++) writer.WriteLine(Text(i * 13) + (encoding is UTF8Encoding ? Others[i % 5] : ""));
        Console.WriteLine(name + " " + Error(writer.Flush));
        stream.Position = 0;
        Add(new StreamReader(stream, encoding).ReadToEnd().ToCharArray());
        Print(name + " long");
    }

    /// Ranges that overlap, pointers that are odd, and counts that are none.
    static unsafe void Pointers(string name, Encoding encoding)
    {
        for (int shift = -40; shift <= 40; shift += 5)
        {
            var memory = new byte[400];
            fixed (byte* p = memory)
            {
                for (int i = 0; i < 60; i++) ((char*)(p + 100))[i] = (char)(i + 40);
                bool threw = Error(() => { fixed (byte* q = memory) Add((ulong)encoding.GetBytes((char*)(q + 100), 60, q + 100 + shift, 60)); }) != "no error";
                Add(threw ? 1ul : 0);
                Add(memory);
            }
            memory = new byte[400];
            fixed (byte* p = memory)
            {
                for (int i = 0; i < 60; i++) p[100 + i] = (byte)(i + 40);
                bool threw = Error(() => { fixed (byte* q = memory) Add((ulong)encoding.GetChars(q + 100, 60, (char*)(q + 100 + shift), 60)); }) != "no error";
                Add(threw ? 1ul : 0);
                Add(memory);
            }
        }
        var odd = new byte[100];
        var to = new byte[100];
        fixed (byte* p = odd, q = to)
        {
            char* chars = (char*)(p + 1);
            for (int i = 0; i < 30; i++) chars[i] = (char)(i + 65);
            Add((ulong)encoding.GetByteCount(chars, 30));
            Add((ulong)encoding.GetBytes(chars, 30, q, 50));
            Add((ulong)encoding.GetChars(q, 20, (char*)(p + 3), 30));
            Add(odd);
            Add(to);
        }
        Console.WriteLine(name + " " + Error(() => { fixed (byte* p = odd) encoding.GetBytes((char*)p, -1, p, 10); }));
        Console.WriteLine(name + " " + Error(() => { fixed (byte* p = odd) encoding.GetBytes(null, 1, p, 10); }));
        Console.WriteLine(name + " " + Error(() => { fixed (byte* p = odd) encoding.GetCharCount(p, -1); }));
        Print(name + " pointers");
    }

    sealed class Strange : UTF8Encoding
    {
        public override int GetByteCount(string text) { return base.GetByteCount(text) + 1; }
        public override Encoder GetEncoder() { return Encoding.ASCII.GetEncoder(); }
    }

    static void Main()
    {
        All("UTF-8", Encoding.UTF8);
        All("UTF-8 strict", new UTF8Encoding(true, true));
        All("UTF-8 replacing", Encoding.GetEncoding("utf-8", new EncoderReplacementFallback("<?>"), new DecoderReplacementFallback("<!>")));
        All("ASCII", Encoding.ASCII);
        All("ASCII strict", Encoding.GetEncoding("us-ascii", EncoderFallback.ExceptionFallback, DecoderFallback.ExceptionFallback));
        All("ASCII replacing", Encoding.GetEncoding("us-ascii", new EncoderReplacementFallback("<?>"), new DecoderReplacementFallback("<!>")));
        var strange = new Strange();
        Console.WriteLine(strange.GetByteCount("abcdefghijklmnop") + " " + strange.GetEncoder().GetByteCount(Text(20).ToCharArray(), 0, 20, true));
    }
}
