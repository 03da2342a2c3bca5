using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Security.Cryptography;
using System.Text;

/// Hashes and ciphers of the class library: known vectors, all lengths about a block, offsets, overlapping buffers, modes, paddings, and errors.
/// What is printed are short sums of all results; HashesAndCiphers.expected is mono's.
static class HashesAndCiphers
{
    static byte[] Bytes(int length, int seed)
    {
        var bytes = new byte[length];
        uint x = (uint)seed * 2654435761u + 1;
        for (int i = 0; i < length; i++)
        {
            x = x * 1664525 + 1013904223;
            bytes[i] = (byte)(x >> 24);
        }
        return bytes;
    }

    static ulong sum;
    static void Add(byte[] bytes, int from, int count)
    {
        for (int i = from; i < from + count; i++) sum = (sum ^ bytes[i]) * 1099511628211;
        sum = (sum ^ (ulong)count) * 1099511628211;
    }
    static void Add(byte[] bytes) { Add(bytes, 0, bytes.Length); }
    static void Print(string what)
    {
        Console.WriteLine(what + " " + sum.ToString("x16"));
        sum = 14695981039346656037;
    }
    static string Hex(byte[] bytes) { return BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant(); }

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

    static void Hashes(string name, Func<HashAlgorithm> make)
    {
        using (var hash = make())
        {
            Console.WriteLine(name + " " + Hex(hash.ComputeHash(Encoding.ASCII.GetBytes("abc"))));
            Console.WriteLine(name + " " + Hex(hash.ComputeHash(new byte[0])));
            for (int length = 0; length < 300; length++) Add(hash.ComputeHash(Bytes(length, length)));
            var data = Bytes(5000, 7);
            for (int from = 0; from < 70; from++) Add(hash.ComputeHash(data, from, 4900 - 13 * from));
            // In pieces of all lengths, in place and not.
            var copy = new byte[5000];
            for (int piece = 1; piece < 140; piece += 3)
            {
                int at = 0;
                for (; at + piece <= 4000; at += piece)
                    hash.TransformBlock(data, at, piece, at % 2 == 0 ? copy : null, at);
                hash.TransformFinalBlock(data, at, 4000 - at);
                Add(hash.Hash);
                hash.Initialize();
            }
            using (var stream = new CryptoStream(Stream.Null, hash, CryptoStreamMode.Write)) stream.Write(data, 3, 4321);
            Add(hash.Hash);
        }
        Print(name);
        var disposed = make();
        disposed.Dispose();
        Console.WriteLine(name + " " + Error(() => disposed.ComputeHash(new byte[3])));
        using (var hash = make())
        {
            Console.WriteLine(name + " " + Error(() => hash.ComputeHash((byte[])null)));
            Console.WriteLine(name + " " + Error(() => hash.ComputeHash(new byte[3], 2, 2)));
            Console.WriteLine(name + " " + Error(() => hash.TransformBlock(new byte[300], 200, 101, null, 0)));
        }
    }

    static void Keyed(string name, Func<byte[], HMAC> make)
    {
        foreach (int length in new[] { 1, 20, 63, 64, 65, 127, 128, 129, 200 })
            using (var hmac = make(Bytes(length, 5)))
                for (int data = 0; data < 150; data += 11) Add(hmac.ComputeHash(Bytes(data, data)));
        Print(name);
    }

    static SymmetricAlgorithm Cipher(Func<SymmetricAlgorithm> make, int key, int block, CipherMode mode, PaddingMode padding)
    {
        var cipher = make();
        cipher.BlockSize = block;
        cipher.Mode = mode;
        cipher.Padding = padding;
        if (mode == CipherMode.CFB) cipher.FeedbackSize = 8;
        cipher.Key = Bytes(key / 8, key);
        cipher.IV = Bytes(block / 8, 99);
        return cipher;
    }

    static void Ciphers(string name, Func<SymmetricAlgorithm> make, int[] keys, int[] blocks)
    {
        foreach (int key in keys)
            foreach (int block in blocks)
            {
                foreach (var mode in new[] { CipherMode.CBC, CipherMode.ECB, CipherMode.CFB })
                    foreach (var padding in new[] { PaddingMode.None, PaddingMode.PKCS7, PaddingMode.Zeros, PaddingMode.ANSIX923 })
                        try
                        {
                            All(make, key, block, mode, padding);
                        }
                        catch (CryptographicException e)
                        {
                            Console.WriteLine(name + " " + key + " " + block + " " + mode + " " + padding + ": " + e.Message);
                        }
                Print(name + " " + key + " " + block);
            }
    }

    static void All(Func<SymmetricAlgorithm> make, int key, int block, CipherMode mode, PaddingMode padding)
    {
        int size = block / 8;
        using (var cipher = Cipher(make, key, block, mode, padding))
            for (int length = 0; length < 6 * size; length += padding == PaddingMode.None ? size : 5)
            {
                var plain = Bytes(length, length);
                byte[] secret;
                using (var encryptor = cipher.CreateEncryptor())
                {
                    secret = encryptor.TransformFinalBlock(plain, 0, length);
                    Add(secret);
                    // Once more, in pieces through a stream.
                    var to = new MemoryStream();
                    using (var stream = new CryptoStream(to, cipher.CreateEncryptor(), CryptoStreamMode.Write))
                        for (int at = 0; at < length; at += 7) stream.Write(plain, at, Math.Min(7, length - at));
                    Add(to.ToArray());
                }
                using (var decryptor = cipher.CreateDecryptor())
                {
                    var again = decryptor.TransformFinalBlock(secret, 0, secret.Length);
                    Add(again);
                    if (padding != PaddingMode.Zeros && !again.SequenceEqual(plain)) Console.WriteLine("not what was enciphered");
                    using (var stream = new CryptoStream(new MemoryStream(secret), cipher.CreateDecryptor(), CryptoStreamMode.Read))
                    {
                        var to = new MemoryStream();
                        stream.CopyTo(to, 13);
                        Add(to.ToArray());
                    }
                }
                if (length < 3 * size || padding != PaddingMode.None) continue;
                // Many blocks at once, in place, and over buffers that overlap in either direction.
                foreach (bool encrypt in new[] { true, false })
                    foreach (int shift in new[] { 0, 1, 5, size, size + 3, -1, -size, -size - 9 })
                    {
                        var buffer = Bytes(length + 120, 3);
                        using (var transform = encrypt ? cipher.CreateEncryptor() : cipher.CreateDecryptor())
                        {
                            int done = transform.TransformBlock(buffer, 60, 2 * size, buffer, 60 + shift);
                            sum += (ulong)done;
                            // The state goes from one call to the next.
                            done = transform.TransformBlock(buffer, 63, size, buffer, 60 - shift);
                            sum += (ulong)done;
                            Add(transform.TransformFinalBlock(buffer, 9, size));
                            Add(buffer);
                        }
                    }
            }
    }

    static void Errors(string name, Func<SymmetricAlgorithm> make)
    {
        foreach (bool encrypt in new[] { true, false })
            using (var cipher = Cipher(make, 128, 128, CipherMode.CBC, PaddingMode.PKCS7))
            using (var transform = encrypt ? cipher.CreateEncryptor() : cipher.CreateDecryptor())
            {
                var ten = new byte[10];
                var forty = new byte[40];
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(null, 0, 16, forty, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 0, 16, null, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 0, 15, forty, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, -1, 16, forty, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 30, 16, forty, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 0, 32, forty, 30)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 0, 32, ten, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 0, 32, ten, -3)));
                Console.WriteLine(name + " " + Error(() => transform.TransformFinalBlock(null, 0, 16)));
                Console.WriteLine(name + " " + Error(() => transform.TransformFinalBlock(forty, 30, 16)));
                transform.Dispose();
                Console.WriteLine(name + " " + Error(() => transform.TransformBlock(forty, 0, 16, forty, 0)));
                Console.WriteLine(name + " " + Error(() => transform.TransformFinalBlock(forty, 0, 16)));
            }
        using (var cipher = Cipher(make, 128, 128, CipherMode.CBC, PaddingMode.PKCS7))
        {
            // Bad padding, and lengths that are no blocks.
            Console.WriteLine(name + " " + Error(() => cipher.CreateDecryptor().TransformFinalBlock(Bytes(32, 1), 0, 32)));
            Console.WriteLine(name + " " + Error(() => cipher.CreateDecryptor().TransformFinalBlock(Bytes(32, 1), 0, 31)));
            Console.WriteLine(name + " " + Error(() => cipher.CreateEncryptor(new byte[15], new byte[16])));
            Console.WriteLine(name + " " + Error(() => cipher.CreateEncryptor(new byte[16], new byte[15])));
        }
    }

    /// A mode that changes while a transform is in use, asked of the algorithm for each block or never.
    static void ModeOfTheMoment(Func<SymmetricAlgorithm> make)
    {
        using (var cipher = Cipher(make, 256, 128, CipherMode.CBC, PaddingMode.None))
        using (var transform = cipher.CreateEncryptor())
        {
            var data = Bytes(64, 1);
            var result = new byte[64];
            transform.TransformBlock(data, 0, 32, result, 0);
            Add(result);
            cipher.Mode = CipherMode.ECB;
            transform.TransformBlock(data, 0, 32, result, 32);
            Add(result);
            cipher.Mode = CipherMode.CBC;
            transform.TransformBlock(data, 0, 64, result, 0);
            Add(result);
        }
        Print("mode");
    }

    sealed class CountingSha : SHA256Managed
    {
        public int Calls;
        protected override void HashCore(byte[] bytes, int from, int count)
        {
            Calls++;
            base.HashCore(bytes, from, count);
        }
    }

    static void Main()
    {
        sum = 14695981039346656037;
        // FIPS 197, appendix C.
        var block = Enumerable.Range(0, 16).Select(i => (byte)(i * 0x11)).ToArray();
        foreach (int length in new[] { 16, 24, 32 })
            foreach (var cipher in new SymmetricAlgorithm[] { Aes.Create(), new AesManaged(), new RijndaelManaged() })
            {
                cipher.Mode = CipherMode.ECB;
                cipher.Padding = PaddingMode.None;
                cipher.Key = Enumerable.Range(0, length).Select(i => (byte)i).ToArray();
                var secret = cipher.CreateEncryptor().TransformFinalBlock(block, 0, 16);
                Console.WriteLine(Hex(secret) + " " + Hex(cipher.CreateDecryptor().TransformFinalBlock(secret, 0, 16)));
            }

        Hashes("MD5", MD5.Create);
        Hashes("SHA1", SHA1.Create);
        Hashes("SHA1Managed", () => new SHA1Managed());
        Hashes("SHA256", SHA256.Create);
        Hashes("SHA384", SHA384.Create);
        Hashes("SHA512", SHA512.Create);
        Hashes("RIPEMD160", RIPEMD160.Create);
        var counting = new CountingSha();
        Console.WriteLine(Hex(counting.ComputeHash(new MemoryStream(new byte[10000]))).Substring(0, 8) + " " + counting.Calls);
        Keyed("HMACMD5", key => new HMACMD5(key));
        Keyed("HMACSHA1", key => new HMACSHA1(key));
        Keyed("HMACSHA256", key => new HMACSHA256(key));
        Keyed("HMACSHA512", key => new HMACSHA512(key));
        Add(new Rfc2898DeriveBytes("password", Bytes(16, 1), 100).GetBytes(100));
        Print("Rfc2898DeriveBytes");
        Add(new PasswordDeriveBytes("password", Bytes(16, 1), "MD5", 20).GetBytes(40));
        Print("PasswordDeriveBytes");

        Ciphers("Aes", Aes.Create, new[] { 128, 192, 256 }, new[] { 128 });
        Ciphers("AesManaged", () => new AesManaged(), new[] { 128, 256 }, new[] { 128 });
        Ciphers("Rijndael", () => new RijndaelManaged(), new[] { 128, 192, 256 }, new[] { 128, 192, 256 });
        Ciphers("TripleDES", TripleDES.Create, new[] { 192 }, new[] { 64 });
        Errors("Aes", Aes.Create);
        Errors("Rijndael", () => new RijndaelManaged());
        ModeOfTheMoment(Aes.Create);
        ModeOfTheMoment(() => new RijndaelManaged());
    }
}
