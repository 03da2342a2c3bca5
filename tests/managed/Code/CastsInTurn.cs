// Casts to many interfaces in turn: VTables remember some of the answers, and each is right whatever took whose place.
// expect: 120000 60000 thrown 1000
using System;
using System.Collections;
using System.Collections.Generic;

static class CastsInTurn
{
    interface IOwn<T> { }
    class Own : IOwn<int>, IOwn<string>, IOwn<long>, IOwn<object[]> { }

    static void Main()
    {
        object list = new List<int>(), own = new Own();
        int yes = 0, no = 0, thrown = 0;
        for (int i = 0; i < 10000; i++) {
            if (list is IEnumerable<int>) yes++;
            if (list is IList<int>) yes++;
            if (list is IList) yes++;
            if (list is ICollection<int>) yes++;
            if (list is IReadOnlyList<int>) yes++;
            if (list is IReadOnlyCollection<int>) yes++;
            if (list is IEnumerable) yes++;
            if (list is ICollection) yes++;
            if (own is IOwn<int>) yes++;
            if (own is IOwn<string>) yes++;
            if (own is IOwn<long>) yes++;
            if (own is IOwn<object[]>) yes++;
            if (!(list is IEnumerable<long>)) no++;
            if (!(list is IDisposable)) no++;
            if (!(list is IDictionary)) no++;
            if (!(own is IOwn<byte>)) no++;
            if (!(own is IOwn<char>)) no++;
            if (!(own is IList)) no++;
            if (i % 10 == 0)
                try { GC.KeepAlive((IOwn<byte>)own); } catch (InvalidCastException) { thrown++; }
        }
        Console.WriteLine("{0} {1} thrown {2}", yes, no, thrown);
    }
}
