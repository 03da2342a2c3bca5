// Runs a program in a sandbox: `deny SYSCALL,... PROGRAM ...`. The calls named (memfd_create, membarrier) fail with EPERM, as
// under the filters of container runtimes.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    // A number that no call has stands for one that is not to be denied.
    unsigned memfd = strstr(argv[1], "memfd_create") ? SYS_memfd_create : 0xFFFFFF;
    unsigned barrier = strstr(argv[1], "membarrier") ? SYS_membarrier : 0xFFFFFF;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, memfd, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, barrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = { sizeof code / sizeof code[0], code };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("deny: seccomp");
        return 125;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
