/** What jvm.c has a JVM do: null checks that are faults, collections, the end of a stack. */
public class Jvm {
    int value = 1;
    Jvm next;
    static Object[] kept = new Object[64];

    static int read(Jvm j) { return j.value; }

    /** How many of n reads of null were exceptions. The reads are compiled after some: a fault is the check then. */
    static int nulls(int n) {
        int caught = 0;
        Jvm some = new Jvm();
        for (int i = 0; i < n; i++) {
            try {
                read(i % 16 == 0 ? null : some);
            } catch (NullPointerException e) {
                caught++;
            }
        }
        return caught;
    }

    /** Makes garbage; the length of a list that is not. */
    static int garbage(int n) {
        Jvm list = null;
        int length = 0;
        for (int i = 0; i < n; i++) {
            kept[i % kept.length] = new byte[200 + i % 800];
            if (i % 100 == 0) {
                Jvm j = new Jvm();
                j.next = list;
                list = j;
            }
        }
        System.gc();
        for (Jvm j = list; j != null; j = j.next) length++;
        return length;
    }

    static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }

    /** 1: the end of the stack is an error that can be caught. */
    static int overflow() {
        try {
            return deep(1 << 30);
        } catch (StackOverflowError e) {
            return 1;
        }
    }

    static native int host(int n);

    /** Through native code into the other runtime, and back. */
    static int across(int n) { return host(n) + nulls(160); }
}
