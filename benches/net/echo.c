// Echo.cs `sync` in C: what the system calls and the switches between threads cost by themselves.
//
//   echo CONNECTIONS ROUNDTRIPS    (in all)
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 64 };
static int rounds, *ends;
static pthread_barrier_t ready;

static void check(int right, const char *what)
{
    if (right) return;
    fprintf(stderr, "wrong result: %s\n", what);
    exit(1);
}
static void receive(int s, char *message)
{
    for (int n = 0; n < SIZE; ) {
        int got = recv(s, message + n, SIZE - n, 0);
        check(got > 0, "the connection ended");
        n += got;
    }
}
static void *run(void *argument)
{
    long i = (long)argument;
    char message[SIZE] = { 0 };
    int s = ends[i], asks = i % 2;
    pthread_barrier_wait(&ready);
    for (int r = 0; r < rounds; r++) {
        if (asks) {
            message[0] = r;
            send(s, message, SIZE, 0);
            message[0]++;
        }
        receive(s, message);
        if (asks) check(message[0] == (char)r, "another message came back");
        else send(s, message, SIZE, 0);
    }
    return 0;
}
static double all(int connections)
{
    pthread_t *threads = calloc(2 * connections, sizeof *threads);
    pthread_attr_t small;
    struct timespec from, to;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_barrier_init(&ready, 0, 2 * connections + 1);
    for (long i = 0; i < 2 * connections; i++)
        check(pthread_create(&threads[i], &small, run, (void *)i) == 0, "no thread");
    clock_gettime(CLOCK_MONOTONIC, &from);
    pthread_barrier_wait(&ready);
    for (int i = 0; i < 2 * connections; i++) pthread_join(threads[i], 0);
    clock_gettime(CLOCK_MONOTONIC, &to);
    free(threads);
    return to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
}

int main(int argc, char **argv)
{
    int connections = argc > 1 ? atoi(argv[1]) : 1, total = argc > 2 ? atoi(argv[2]) : 20000, one = 1;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (void *)&at, sizeof at) == 0 && listen(listener, 128) == 0, "no listener");
    getsockname(listener, (void *)&at, &size);
    ends = calloc(2 * connections, sizeof *ends);
    for (int i = 0; i < connections; i++) {
        ends[2 * i + 1] = socket(AF_INET, SOCK_STREAM, 0);
        check(connect(ends[2 * i + 1], (void *)&at, sizeof at) == 0, "no connection");
        check((ends[2 * i] = accept(listener, 0, 0)) >= 0, "no connection");
        for (int e = 0; e < 2; e++) setsockopt(ends[2 * i + e], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    rounds = total / 10 / connections > 1 ? total / 10 / connections : 1;
    all(connections);
    rounds = total / connections > 1 ? total / connections : 1;
    printf("echo-sync-%d %.3f us\n", connections, all(connections) * 1e6 / ((double)rounds * connections));
    return 0;
}
