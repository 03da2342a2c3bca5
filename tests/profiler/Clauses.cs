// Clauses that run, with an exception and without: tests/profiler.sh compares how often.
using System;
using System.Collections;
using System.Collections.Generic;

static class Clauses {
    static readonly object Gate = new object();
    static int n;

    static void Once() { try { n++; } finally { n--; } }
    // A leave through two, the inner one first.
    static void Twice(bool throws) {
        try {
            try { if (throws) throw new InvalidOperationException(); } finally { n++; }
        } finally { n++; }
    }
    // Leaves by `return`, `continue` and `break`.
    static int Loop() {
        for (int i = 0; ; i++) {
            try {
                if (i == 1) continue;
                if (i == 3) break;
                if (i == 9) return 9;
            } finally { n++; }
        }
        return n;
    }
    static void Locked() { lock (Gate) n++; }
    static void Each(IEnumerable<int> all) { foreach (int one in all) n += one; }
    // A finally within a handler.
    static void Within() {
        try { throw new ArgumentException(); }
        catch (ArgumentException) {
            try { n++; } finally { n--; }
        }
    }
    static IEnumerable<int> Three() { try { yield return 1; yield return 2; yield return 3; } finally { n++; } }

    static void Main() {
        for (int i = 0; i < 7; i++) {
            Once();
            Twice(false);
            try { Twice(true); } catch (InvalidOperationException) { }
            Loop();
            Locked();
            Each(new List<int> { 1, 2 });
            Each(Three());
            Within();
        }
    }
}
