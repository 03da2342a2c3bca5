// tiers: all
// Conversions between characters and bytes: texts of every length around those that are converted at once, with one unit that is not ASCII at every place, invalid bytes and
// halves of surrogate pairs under every fallback, decoders that keep a part, ranges that overlap, and room that is too small.
using System;
using System.Linq;
using System.Text;

static unsafe class Utf8Lengths
{
    static uint digest;

    static void Add(int n)
    {
        digest = digest * 31 + (uint)n;
    }

    static void Add(byte[] bytes)
    {
        Add(bytes.Length);
        foreach (byte b in bytes)
            Add(b);
    }

    static void Add(string text)
    {
        Add(text.Length);
        foreach (char c in text)
            Add(c);
    }

    static void Show(string what)
    {
        Console.WriteLine("{0}: {1:x8}", what, digest);
        digest = 0;
    }

    static void Try(string what, Func<object> f)
    {
        try { Console.WriteLine("{0}: {1}", what, f()); }
        catch (Exception e) { Console.WriteLine("{0}: {1}: {2}", what, e.GetType().Name, e.Message.Replace('\n', '|')); }
    }

    static string Ascii(int length)
    {
        return new string(Enumerable.Range(0, length).Select(i => (char)(' ' + i * 7 % 95)).ToArray());
    }

    static void Encode(string name, Encoding encoding, string[] odd)
    {
        for (int length = 0; length < 70; length += length < 36 ? 1 : 5)
        {
            string text = Ascii(length);
            byte[] bytes = encoding.GetBytes(text);
            Add(bytes);
            Add(encoding.GetString(bytes));
            Add(encoding.GetByteCount(text));
            Add(encoding.GetCharCount(bytes));
            for (int at = 0; at <= length; at += 1 + length / 12)
            {
                foreach (string some in odd)
                {
                    try
                    {
                        string whole = text.Substring(0, at) + some + text.Substring(at);
                        byte[] made = encoding.GetBytes(whole);
                        Add(made);
                        Add(encoding.GetString(made));
                        Add(encoding.GetCharCount(made));
                        Add(encoding.GetString(made, at / 2, made.Length - at));
                    }
                    catch (EncoderFallbackException e) { Add(1000 + e.Index); }
                    catch (DecoderFallbackException e) { Add(2000 + e.Index); }
                    catch (ArgumentOutOfRangeException) { Add(3000); }
                }
            }
        }
        Show(name);
    }

    static void Decode(string name, Encoding encoding)
    {
        byte[][] odd = { new byte[] { 0x80 }, new byte[] { 0xff }, new byte[] { 0xc3, 0xa4 }, new byte[] { 0xc3 }, new byte[] { 0xe2, 0x82 }, new byte[] { 0xe2, 0x82, 0xac },
            new byte[] { 0xf0, 0x9f, 0x98, 0x80 }, new byte[] { 0xf0, 0x9f, 0x98 }, new byte[] { 0xc0, 0x80 }, new byte[] { 0xed, 0xa0, 0x80 }, new byte[] { 0xf5, 0x80, 0x80, 0x80 }, new byte[] { 0 } };
        for (int length = 0; length < 40; length += length < 20 ? 1 : 3)
        {
            byte[] plain = Encoding.ASCII.GetBytes(Ascii(length));
            for (int at = 0; at <= length; at += 1 + length / 12)
            {
                foreach (byte[] some in odd)
                {
                    byte[] whole = plain.Take(at).Concat(some).Concat(plain.Skip(at)).ToArray();
                    try
                    {
                        Add(encoding.GetString(whole));
                        Add(encoding.GetCharCount(whole));
                    }
                    catch (DecoderFallbackException e) { Add(2000 + e.Index); }
                    // In two parts.
                    var decoder = encoding.GetDecoder();
                    var chars = new char[whole.Length + 10];
                    try
                    {
                        int n = decoder.GetChars(whole, 0, at + 1, chars, 0, false);
                        n += decoder.GetChars(whole, at + 1, whole.Length - at - 1, chars, n, true);
                        Add(new string(chars, 0, n));
                    }
                    catch (DecoderFallbackException e) { Add(4000 + e.Index); }
                }
            }
        }
        Show(name);
    }

    static void Main()
    {
        string[] odd = { "\x7f", "\x80", "\xe4", "\u20ac", "\ud83d\ude00", "\ud83d", "\ude00", "\ude00\ud83d", "\0", "\uffff" };
        Encode("utf-8", new UTF8Encoding(false), odd);
        Encode("utf-8, exceptions", new UTF8Encoding(false, true), odd);
        Encode("ascii", Encoding.ASCII, odd);
        Encode("ascii, exceptions", Encoding.GetEncoding("us-ascii", new EncoderExceptionFallback(), new DecoderExceptionFallback()), odd);
        Encode("latin", Encoding.GetEncoding("iso-8859-1"), odd);
        Encode("utf-16", Encoding.Unicode, odd);
        Decode("utf-8", new UTF8Encoding(false));
        Decode("utf-8, exceptions", new UTF8Encoding(false, true));
        Decode("ascii", Encoding.ASCII);

        byte[] buffer = new byte[200];
        for (int i = 0; i < buffer.Length; i++)
            buffer[i] = (byte)(' ' + i % 90);
        for (int count = 0; count < 60; count += 3)
        {
            // Ranges that overlap, one way and the other.
            foreach (int apart in new[] { 0, 2, 8, 16, 40 })
            {
                var copy = (byte[])buffer.Clone();
                fixed (byte* p = copy)
                {
                    Add(Encoding.UTF8.GetChars(p + apart, count, (char*)p, 60));
                    Add(Encoding.UTF8.GetBytes((char*)(p + apart), count / 2, p, 100));
                }
                Add(copy);
            }
        }
        Show("overlapping");
        var few = new byte[20];
        Try("no room", () => Encoding.UTF8.GetBytes(Ascii(21), 0, 21, few, 0));
        Try("room", () => Encoding.UTF8.GetBytes(Ascii(20), 0, 20, few, 0));
        Try("no room for characters", () => Encoding.UTF8.GetChars(few, 0, 20, new char[19], 0));
        Try("null", () => Encoding.UTF8.GetString(null));
        Try("null text", () => Encoding.UTF8.GetBytes((string)null));
        Try("range", () => Encoding.UTF8.GetString(few, 10, 11));
        Try("negative", () => Encoding.UTF8.GetString(few, -1, 1));
        Try("empty", () => Encoding.UTF8.GetString(new byte[0]).Length + Encoding.UTF8.GetBytes("").Length);
        string large = string.Concat(Enumerable.Repeat(Ascii(95), 1000)) + "\u20ac";
        Try("large", () => Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(large)) == large);
    }
}
