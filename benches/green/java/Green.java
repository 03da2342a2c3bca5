// The Java side of the comparison: the work of Green.cs, Echo.cs and the sample server on virtual threads.
//
//   Green switch SECONDS | park COUNT | echo CONNECTIONS ROUNDTRIPS | http PORT
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

public final class Green {
    static final int FRAMES = 1000, BATCH = 1000;

    interface Work { void run() throws Exception; }
    interface Numbered { void run(int me) throws Exception; }

    static void check(boolean right, String what) {
        if (right) return;
        System.err.println("wrong result: " + what);
        System.exit(1);
    }

    static void figure(String name, double value, String unit) {
        System.out.println(String.format(Locale.ROOT, "%s %.3f %s", name, value, unit));
    }

    static Thread start(Work work) {
        return Thread.startVirtualThread(() -> {
            try { work.run(); }
            catch (Exception e) { e.printStackTrace(); System.exit(1); }
        });
    }

    static double seconds(Work work) throws Exception {
        long start = System.nanoTime();
        work.run();
        return (System.nanoTime() - start) / 1e9;
    }

    static double inside(Work work) throws Exception {
        double[] took = new double[1];
        start(() -> took[0] = seconds(work)).join();
        return took[0];
    }

    static double together(int parties, Numbered work) throws Exception {
        return inside(() -> {
            var all = new Thread[parties];
            for (int i = 0; i < parties; i++) {
                int me = i;
                all[i] = start(() -> work.run(me));
            }
            for (var t : all) t.join();
        });
    }

    interface Rounds { double run(int count) throws Exception; }

    // Makes ever more rounds until they take long enough, by when their code is compiled. Prints what one of as many takes.
    static void measure(String name, double target, int processors, Rounds rounds) throws Exception {
        double count = 200, s = rounds.run((int) count);
        while (s < target / 2 && count < 1e9) {
            count *= Math.max(2, Math.min(10, target / s));
            s = rounds.run((int) count);
        }
        figure(name, rounds.run((int) count) * 1e9 * processors / count, "ns");
    }

    // ---- switching ----------------------------------------------------------------------------------------------

    static double yields(int count, int parties) throws Exception {
        return together(parties, me -> {
            for (int i = count / parties; i > 0; i--) Thread.yield();
        });
    }

    static double spawn(int count) throws Exception {
        var done = new Semaphore(0);
        var left = new AtomicInteger();
        Runnable item = () -> { if (left.decrementAndGet() == 0) done.release(); };
        return inside(() -> {
            for (int rest = count, n; rest > 0; rest -= n) {
                n = Math.min(rest, BATCH);
                left.set(n);
                for (int i = 0; i < n; i++) Thread.startVirtualThread(item);
                done.acquire();
            }
        });
    }

    static int ran;

    static double spawnAndWait(int count) throws Exception {
        ran = 0;
        Runnable item = () -> ran++;
        double s = inside(() -> {
            for (int i = 0; i < count; i++) Thread.startVirtualThread(item).join();
        });
        check(ran == count, "every thread ran");
        return s;
    }

    static int recurse(int frames, Semaphore arrived, Semaphore gate) {
        if (frames > 1) return recurse(frames - 1, arrived, gate) + 1;
        if (gate != null) {
            arrived.release();
            gate.acquireUninterruptibly();
        }
        return 1;
    }

    static double deep(int count) throws Exception {
        ran = 0;
        Runnable item = () -> ran += recurse(FRAMES, null, null) / FRAMES;
        double s = inside(() -> {
            for (int i = 0; i < count; i++) Thread.startVirtualThread(item).join();
        });
        check(ran == count, "all frames returned");
        return s;
    }

    static double deepAtOnce(int count) throws Exception {
        Semaphore arrived = new Semaphore(0), gate = new Semaphore(0);
        return inside(() -> {
            var all = new Thread[count];
            for (int i = 0; i < count; i++)
                all[i] = start(() -> check(recurse(FRAMES, arrived, gate) == FRAMES, "all frames returned"));
            arrived.acquire(count);
            gate.release(count);
            for (var t : all) t.join();
        });
    }

    static double pingPong(int count, int pairs) throws Exception {
        var balls = new Semaphore[2 * pairs];
        for (int i = 0; i < balls.length; i++) balls[i] = new Semaphore(i % 2 == 0 ? 1 : 0);
        return together(balls.length, me -> {
            Semaphore mine = balls[me], other = balls[me ^ 1];
            for (int i = count / pairs; i > 0; i--) {
                mine.acquire();
                other.release();
            }
        });
    }

    static int fail(int frames) {
        if (frames > 1) return fail(frames - 1) + 1;
        Thread.yield();
        throw new IllegalStateException();
    }

    static double throwing(int count, int frames) throws Exception {
        ran = 0;
        double s = inside(() -> {
            for (int i = 0; i < count; i++)
                try { fail(frames); }
                catch (IllegalStateException e) { ran++; }
        });
        check(ran == count, "every exception was caught");
        return s;
    }

    static void switches(double target) throws Exception {
        int processors = Runtime.getRuntime().availableProcessors();
        deepAtOnce(1);
        figure("deep-new", deepAtOnce(BATCH) * 1e9 / BATCH, "ns");
        measure("yield", target, processors, count -> yields(count, 4 * processors));
        measure("spawn", target, 1, Green::spawn);
        measure("spawn-wait", target, 1, Green::spawnAndWait);
        measure("deep-reused", target, 1, Green::deep);
        measure("ping-pong-1", target, 1, count -> pingPong(count, 1));
        measure("ping-pong-64", target, 1, count -> pingPong(count, 64));
        measure("throw-10", target, 1, count -> throwing(count, 10));
        measure("throw-100", target, 1, count -> throwing(count, 100));
    }

    // ---- a million that wait ------------------------------------------------------------------------------------

    static double resident() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * 4096.0;
    }

    static void park(int count) throws Exception {
        var here = new AtomicInteger();
        Semaphore all = new Semaphore(0), gate = new Semaphore(0);
        Runnable wait = () -> {
            if (here.incrementAndGet() == count) all.release();
            gate.acquireUninterruptibly();
            if (here.decrementAndGet() == 0) all.release();
        };
        double before = resident();
        double s = inside(() -> {
            for (int i = 0; i < count; i++) Thread.startVirtualThread(wait);
            all.acquire();
        });
        Thread.sleep(500);
        figure("park-start", s * 1e6 / count, "us");
        figure("park-memory", (resident() - before) / count, "B");
        System.gc();
        Thread.sleep(2000);
        figure("park-memory-later", (resident() - before) / count, "B");
        figure("park-end", inside(() -> { gate.release(count); all.acquire(); }) * 1e6 / count, "us");
    }

    // ---- sockets ------------------------------------------------------------------------------------------------

    static final int SIZE = 64;

    static double askAll(Socket[] clients, Socket[] servers, int rounds) throws Exception {
        return together(2 * clients.length, me -> {
            boolean serves = me % 2 == 0;
            Socket socket = (serves ? servers : clients)[me / 2];
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            var message = new byte[SIZE];
            for (int i = 0; i < rounds; i++) {
                if (!serves) {
                    message[0] = (byte) i;
                    out.write(message);
                }
                check(in.readNBytes(message, 0, SIZE) == SIZE && message[0] == (byte) i, "a message came");
                if (serves) out.write(message);
            }
        });
    }

    static void echo(int connections, int total) throws Exception {
        var listener = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        Socket[] clients = new Socket[connections], servers = new Socket[connections];
        for (int i = 0; i < connections; i++) {
            clients[i] = new Socket(InetAddress.getLoopbackAddress(), listener.getLocalPort());
            servers[i] = listener.accept();
            clients[i].setTcpNoDelay(true);
            servers[i].setTcpNoDelay(true);
        }
        askAll(clients, servers, Math.max(1, total / 10 / connections));
        int rounds = Math.max(1, total / connections);
        figure("echo-" + connections, askAll(clients, servers, rounds) * 1e6 / ((double) rounds * connections), "us");
    }

    static byte[] answer(String status, String body) {
        return ("HTTP/1.1 " + status + "\r\nServer: sample\r\nContent-Type: text/plain\r\nContent-Length: " + body.length() +
            "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII);
    }

    static final byte[] HELLO = answer("200 OK", "Hello, World!"), UNKNOWN = answer("404 Not Found", "not here\n");

    static String header(String head, String name) {
        String[] lines = head.split("\r\n");
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon == name.length() && lines[i].regionMatches(true, 0, name, 0, colon)) return lines[i].substring(colon + 1).trim();
        }
        return null;
    }

    static int find(byte[] bytes, int end) {
        for (int i = 0; i + 4 <= end; i++)
            if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') return i;
        return -1;
    }

    // Serves a connection with blocking calls, and parses as samples/http does.
    static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            var bytes = new byte[1024];
            int end = 0;
            while (true) {
                int head = find(bytes, end);
                if (head >= 0) {
                    String text = new String(bytes, 0, head, StandardCharsets.US_ASCII);
                    int lineEnd = text.indexOf("\r\n");
                    String[] words = (lineEnd < 0 ? text : text.substring(0, lineEnd)).split(" ");
                    if (words.length != 3 || !words[2].startsWith("HTTP/1.")) return;
                    String length = header(text, "Content-Length"), connection = header(text, "Connection");
                    boolean keep = connection == null ? words[2].equals("HTTP/1.1") : !connection.equalsIgnoreCase("close");
                    int next = head + 4 + (length == null ? 0 : Integer.parseInt(length));
                    if (end >= next) {
                        System.arraycopy(bytes, next, bytes, 0, end - next);
                        end -= next;
                        out.write(words[1].equals("/plaintext") ? HELLO : UNKNOWN);
                        if (!keep) return;
                        continue;
                    }
                }
                if (end == bytes.length) {
                    if (end >= 1 << 20) return;
                    bytes = Arrays.copyOf(bytes, 2 * end);
                }
                int count = in.read(bytes, end, bytes.length - end);
                if (count < 0) return;
                end += count;
            }
        } catch (IOException | NumberFormatException e) {
            // the client went away, or speaks something else
        }
    }

    static void http(int port) throws Exception {
        var listener = new ServerSocket(port, 4096, InetAddress.getLoopbackAddress());
        while (true) {
            var socket = listener.accept();
            Thread.startVirtualThread(() -> serve(socket));
        }
    }

    public static void main(String[] args) throws Exception {
        switch (args.length > 1 ? args[0] : "") {
            case "switch" -> switches(Double.parseDouble(args[1]));
            case "park" -> park(Integer.parseInt(args[1]));
            case "echo" -> echo(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
            case "http" -> http(Integer.parseInt(args[1]));
            default -> {
                System.err.println("usage: Green switch SECONDS | park COUNT | echo CONNECTIONS ROUNDTRIPS | http PORT");
                System.exit(2);
            }
        }
    }
}
