// Nothing here encrypts files, and who asks for it hears so.
using System;
using System.IO;

static class EncryptedFiles
{
    static void Main()
    {
        string file = Path.GetTempFileName();
        foreach (var mode in new[] { FileMode.Open, FileMode.Create })
            try { new FileStream(file, mode, FileAccess.ReadWrite, FileShare.None, 4096, FileOptions.Encrypted).Close(); }
            catch (IOException e) { Console.WriteLine(e.Message + " " + e.HResult.ToString("x")); }
        // expect: Encryption failed 80071770
        // expect: Encryption failed 80071770
        File.Delete(file);
    }
}
