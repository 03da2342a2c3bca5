// Characters of ASCII are answered without the class library; the answers are its own, for all characters and in any culture.
using System;
using System.Globalization;
using System.Threading;

static class Characters
{
    static uint hash;
    static void Add(uint x) { hash = (hash ^ x) * 16777619; }
    static void All(int from, int to)
    {
        hash = 2166136261;
        for (int i = from; i < to; i++) {
            char c = (char)i;
            Add(char.IsLetter(c) ? 1u : 2); Add(char.IsDigit(c) ? 3u : 4); Add(char.IsWhiteSpace(c) ? 5u : 6);
            Add(char.IsUpper(c) ? 7u : 8); Add(char.IsLower(c) ? 9u : 10); Add(char.IsLetterOrDigit(c) ? 11u : 12);
            Add(char.ToUpperInvariant(c)); Add(char.ToLowerInvariant(c));
            // The overloads that take a string are the class library's own.
            string s = c.ToString();
            Add(char.IsLetter(s, 0) == char.IsLetter(c) ? 13u : 14);
            Add(char.IsWhiteSpace(s, 0) == char.IsWhiteSpace(c) ? 15u : 16);
            Add(s.ToUpperInvariant()[0] == char.ToUpperInvariant(c) ? 17u : 18);
        }
        Console.WriteLine(from + ".." + to + " " + hash);
    }
    static void Main()
    {
        foreach (var name in new[] { "", "tr-TR" }) {
            Thread.CurrentThread.CurrentCulture = new CultureInfo(name);
            All(0, 128);
            All(128, 256);
            All(256, 0x10000);
            for (int i = 0; i < 128; i++) {
                char c = (char)i;
                Console.Write(char.IsLetter(c) ? char.IsUpper(c) ? 'U' : char.IsLower(c) ? 'l' : '?' : char.IsDigit(c) ? 'd' : char.IsWhiteSpace(c) ? '_' : '.');
            }
            Console.WriteLine();
            Console.WriteLine(char.ToUpperInvariant('i') + " " + char.ToLowerInvariant('I') + " " + char.ToUpper('i') + " " + char.ToLower('I'));
        }
        // What lies above the 16 bits of a character does not count.
        Func<int, char> cut = i => unchecked((char)i);
        Console.WriteLine(char.IsDigit(cut(0x10035)) + " " + char.IsLetter(cut(0x10035)));
        Func<char, bool> asked = char.IsLetter;
        Console.WriteLine(asked('x') + " " + asked('1') + " " + asked('\u00e9'));
        // The case of whole texts and hashes of blocks, which use routines of the runtime.
        var data = new byte[1000];
        for (int i = 0; i < data.Length; i++) data[i] = (byte)(i * 7);
        foreach (var name in new[] { "SHA256", "SHA384", "SHA512" })
            foreach (int count in new[] { 0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000 })
                using (var h = System.Security.Cryptography.HashAlgorithm.Create(name)) {
                    var r = h.ComputeHash(data, 0, count);
                    // In pieces the hash is the same.
                    h.Initialize();
                    for (int at = 0; at < count; at += 37) h.TransformBlock(data, at, Math.Min(37, count - at), null, 0);
                    h.TransformFinalBlock(data, 0, 0);
                    Console.WriteLine(name + " " + count + " " + Convert.ToBase64String(r).Substring(0, 24) + " " + (Convert.ToBase64String(r) == Convert.ToBase64String(h.Hash)));
                }
    }
}
