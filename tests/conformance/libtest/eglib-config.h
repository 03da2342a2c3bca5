/* What eglib asks of a configured source tree, for Linux on x86-64. */
#ifndef EGLIB_CONFIG
#define EGLIB_CONFIG
#include <alloca.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#define G_HAVE_ALLOCA_H
#define G_HAVE_UNISTD_H
#define G_OS_UNIX
#define G_BYTE_ORDER G_LITTLE_ENDIAN
#define G_BREAKPOINT() __builtin_trap()
#define G_GNUC_NORETURN __attribute__((noreturn))
#define G_GNUC_UNUSED __attribute__((unused))
#define G_GNUC_PRETTY_FUNCTION __FUNCTION__
#define G_GSIZE_FORMAT "lu"
#define G_DIR_SEPARATOR '/'
#define G_DIR_SEPARATOR_S "/"
#define G_SEARCHPATH_SEPARATOR ':'
#define G_SEARCHPATH_SEPARATOR_S ":"
typedef size_t gsize;
typedef ssize_t gssize;
typedef int GPid;
#endif
