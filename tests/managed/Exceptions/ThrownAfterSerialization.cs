// An exception that came out of a serializer has the text of its trace; a new throw begins a new one, a rethrow goes on showing the text.
using System;
using System.IO;
using System.Linq;
using System.Runtime.ExceptionServices;
using System.Runtime.Serialization.Formatters.Binary;

static class ThrownAfterSerialization
{
    static Exception Copy(Exception e)
    {
        var stream = new MemoryStream();
        var formatter = new BinaryFormatter();
        formatter.Serialize(stream, e);
        stream.Position = 0;
        return (Exception)formatter.Deserialize(stream);
    }
    static void First(int n) { if (n == 0) throw new InvalidOperationException("first"); First(n - 1); }
    static void Again(Exception e, int n) { if (n == 0) throw e; Again(e, n - 1); }
    static void Captured(Exception e) { if (e != null) ExceptionDispatchInfo.Capture(e).Throw(); Captured(null); }

    static void Show(Exception e)
    {
        foreach (string line in (e.StackTrace ?? "none").Split('\n').Select(l => l.Split('[')[0].TrimEnd())) Console.WriteLine(line);
        Console.WriteLine();
    }
    static void Main()
    {
        try { First(2); }
        catch (Exception e)
        {
            Exception copy = Copy(e);
            Show(copy);
            try { Again(copy, 1); }
            catch (Exception thrown) { Show(thrown); }
            try { Again(Copy(e), 1); }
            catch (Exception thrown)
            {
                try { throw; }
                catch (Exception rethrown) { Show(rethrown); }
            }
            try { Captured(Copy(e)); }
            catch (Exception thrown) { Show(thrown); }
        }
    }
}
