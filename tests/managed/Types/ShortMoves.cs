// Strings and blocks of every short length, also overlapping: moved in place.
// mcs: -unsafe
using System;
using System.Text;

static unsafe class Program
{
    static void Main()
    {
        const string text = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        var all = new StringBuilder();
        for (int round = 0; round < 50; round++)
        {
            all.Length = 0;
            for (int length = 0; length < 45; length++)
                for (int at = 0; at < 4; at++)
                {
                    string part = text.Substring(at, length);
                    for (int i = 0; i < length; i++) if (part[i] != text[at + i]) throw new Exception("Substring " + at + " " + length);
                    string joined = string.Concat(part, "-", part);
                    if (joined.Length != 2 * length + 1 || joined.IndexOf('-') != length) throw new Exception("Concat " + length);
                    all.Append(part).Append('.');
                }
        }
        string whole = all.ToString();
        uint sum = 0;
        foreach (char c in whole) sum = sum * 31 + c;
        Console.WriteLine(whole.Length + " " + sum);

        var bytes = new byte[80];
        sum = 0;
        fixed (byte* p = bytes)
            for (int round = 0; round < 20; round++)
                for (int length = 0; length <= 40; length++)
                    for (int shift = -3; shift <= 3; shift++)
                    {
                        for (int i = 0; i < 80; i++) p[i] = (byte)(i * 7);
                        Buffer.MemoryCopy(p + 16, p + 16 + shift, 64, length);
                        for (int i = 0; i < 80; i++)
                        {
                            int from = i - shift;
                            bool moved = i >= 16 + shift && i < 16 + shift + length;
                            if (p[i] != (byte)((moved ? from : i) * 7)) throw new Exception("move " + length + " by " + shift + " at " + i);
                        }
                        sum += (uint)length;
                    }
        Console.WriteLine(sum);
        var target = new char[60];
        for (int length = 0; length < 60; length++)
        {
            text.CopyTo(1, target, 0, length);
            if (new string(target, 0, length) != text.Substring(1, length)) throw new Exception("CopyTo " + length);
        }
        Buffer.BlockCopy(bytes, 0, bytes, 3, 9);
        Console.WriteLine(bytes[3] + " " + bytes[11] + " " + bytes[12]);
    }
}
