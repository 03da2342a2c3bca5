/* What Mono's libtest.c asks of a configured source tree, for Linux on x86-64. */
#define HAVE_UNISTD_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_DLFCN_H 1
#define SIZEOF_VOID_P 8
