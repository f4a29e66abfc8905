/* A library that processes load before the C library. Below SLOW_ROOT, each opening for writing, sync and rename takes
   SLOW_MS longer, as on a busy network file system. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void wait_if_below(const char *path) {
    const char *root = getenv("SLOW_ROOT"), *log = getenv("SLOW_LOG");
    if (!root || !path || strncmp(path, root, strlen(root))) return;
    usleep(1000 * atoi(getenv("SLOW_MS")));
    FILE *counted = log ? fopen(log, "a") : NULL;
    if (counted) { fputs(".", counted); fclose(counted); }
}
#define REAL(name) static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name)
#define OPENS(name)                                                                  \
    int name(const char *path, int flags, ...) {                                     \
        REAL(name);                                                                  \
        va_list more;                                                                \
        va_start(more, flags);                                                       \
        int mode = flags & O_CREAT ? va_arg(more, int) : 0;                          \
        va_end(more);                                                                \
        if (flags & (O_WRONLY | O_RDWR)) wait_if_below(path);                        \
        return next(path, flags, mode);                                              \
    }
OPENS(open)
OPENS(open64)
int rename(const char *from, const char *to) { REAL(rename); wait_if_below(to); return next(from, to); }
int fsync(int file) {
    REAL(fsync);
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) { path[length] = 0; wait_if_below(path); }
    return next(file);
}
