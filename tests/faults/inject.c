/* Preloaded into a program (LD_PRELOAD): lets the N-th call of one kind fail, alone or with all behind it.
 *
 * Comes in: GALATEA_FAULT="KIND:N" or "KIND:N+" in the environment (from the program's start on), or calls of
 * galatea_fault_arm() by a host. GALATEA_FAULT_COUNTS=FILE: how often each kind was called, a line each, when
 * the program ends. Kinds: alloc (malloc and all that is built on it, operator new), map, open (files and
 * folders), read, write (to files, not to the terminal's descriptors), thread.
 *
 * Nothing here allocates: glibc's own names are called beneath the ones that are taken over.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

enum { kAlloc, kMap, kOpen, kRead, kWrite, kThread, kKinds };
static const char* const kNames[kKinds] = {"alloc", "map", "open", "read", "write", "thread"};
static const int kErrors[kKinds] = {ENOMEM, ENOMEM, EMFILE, EIO, EIO, EAGAIN};

static atomic_long g_calls[kKinds];
static atomic_long g_failed;
static atomic_int g_kind = -1; /* that fails */
static atomic_long g_first, g_last;

/* Counts a call; whether it fails, with errno set. */
static int fails(int kind) {
  const long number = atomic_fetch_add(&g_calls[kind], 1) + 1;
  if (atomic_load_explicit(&g_kind, memory_order_relaxed) != kind) return 0;
  if (number < atomic_load(&g_first) || number > atomic_load(&g_last)) return 0;
  atomic_fetch_add(&g_failed, 1);
  errno = kErrors[kind];
  return 1;
}

/* From now on, for a host: call `number` of the kind (from 1) fails, and with `all` those behind it. A kind
 * that there is not ends it. */
EXPORT void galatea_fault_arm(const char* kind, long number, int all) {
  atomic_store(&g_kind, -1);
  for (int k = 0; k < kKinds; ++k) {
    if (strcmp(kind, kNames[k]) != 0) continue;
    atomic_store(&g_calls[k], 0);
    atomic_store(&g_failed, 0);
    atomic_store(&g_first, number);
    atomic_store(&g_last, all ? INT64_MAX : number);
    atomic_store(&g_kind, k);
  }
}

/* Calls of a kind since it was armed, or since the start. */
EXPORT long galatea_fault_calls(const char* kind) {
  for (int k = 0; k < kKinds; ++k)
    if (strcmp(kind, kNames[k]) == 0) return atomic_load(&g_calls[k]);
  return -1;
}

/* How many were made to fail since the last galatea_fault_arm(). */
EXPORT long galatea_fault_failed(void) { return atomic_load(&g_failed); }

__attribute__((constructor)) static void begin(void) {
  const char* fault = getenv("GALATEA_FAULT");
  const char* colon = fault ? strchr(fault, ':') : NULL;
  if (!colon) return;
  char kind[16] = {0};
  if ((size_t)(colon - fault) >= sizeof kind) return;
  memcpy(kind, fault, (size_t)(colon - fault));
  char* end = NULL;
  const long number = strtol(colon + 1, &end, 10);
  galatea_fault_arm(kind, number, *end == '+');
}

__attribute__((destructor)) static void end(void) {
  const char* path = getenv("GALATEA_FAULT_COUNTS");
  if (!path) return;
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return;
  char text[32 * (kKinds + 1)];
  int size = 0;
  for (int k = 0; k < kKinds; ++k)
    size +=
        snprintf(text + size, sizeof text - (size_t)size, "%s %ld\n", kNames[k], atomic_load(&g_calls[k]));
  size += snprintf(text + size, sizeof text - (size_t)size, "failed %ld\n", atomic_load(&g_failed));
  syscall(SYS_write, file, text, (size_t)size);
  syscall(SYS_close, file);
}

/* ---- Memory ---- */

EXPORT void* malloc(size_t size) { return fails(kAlloc) ? NULL : __libc_malloc(size); }
EXPORT void* calloc(size_t count, size_t size) { return fails(kAlloc) ? NULL : __libc_calloc(count, size); }
EXPORT void* realloc(void* memory, size_t size) {
  return fails(kAlloc) ? NULL : __libc_realloc(memory, size);
}
EXPORT void* memalign(size_t alignment, size_t size) {
  return fails(kAlloc) ? NULL : __libc_memalign(alignment, size);
}
EXPORT void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
EXPORT int posix_memalign(void** memory, size_t alignment, size_t size) {
  const int before = errno;
  void* const made = memalign(alignment, size);
  errno = before;
  if (!made) return ENOMEM;
  *memory = made;
  return 0;
}

EXPORT void* mmap(void* place, size_t size, int protection, int flags, int file, off_t offset) {
  if (fails(kMap)) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, place, size, protection, flags, file, offset);
}
EXPORT void* mmap64(void* place, size_t size, int protection, int flags, int file, off_t offset) {
  return mmap(place, size, protection, flags, file, offset);
}

/* ---- Files ---- */

static mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails(kOpen) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
EXPORT int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open(path, flags, mode);
}
EXPORT int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return fails(kOpen) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

/* The function of this name in the libraries behind this one. */
static void* next_of(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (!found) abort();
  return found;
}
#define NEXT(type, name) ((type)(uintptr_t)next_of(name))

EXPORT FILE* fopen(const char* path, const char* mode) {
  return fails(kOpen) ? NULL : NEXT(FILE * (*)(const char*, const char*), "fopen")(path, mode);
}
EXPORT FILE* fopen64(const char* path, const char* mode) {
  return fails(kOpen) ? NULL : NEXT(FILE * (*)(const char*, const char*), "fopen64")(path, mode);
}
EXPORT DIR* opendir(const char* path) {
  return fails(kOpen) ? NULL : NEXT(DIR * (*)(const char*), "opendir")(path);
}
EXPORT struct dirent* readdir(DIR* folder) {
  return fails(kRead) ? NULL : NEXT(struct dirent * (*)(DIR*), "readdir")(folder);
}
EXPORT struct dirent64* readdir64(DIR* folder) {
  return fails(kRead) ? NULL : NEXT(struct dirent64 * (*)(DIR*), "readdir64")(folder);
}

EXPORT ssize_t read(int file, void* to, size_t size) {
  return fails(kRead) ? -1 : syscall(SYS_read, file, to, size);
}
EXPORT ssize_t pread(int file, void* to, size_t size, off_t offset) {
  return fails(kRead) ? -1 : syscall(SYS_pread64, file, to, size, offset);
}
EXPORT ssize_t pread64(int file, void* to, size_t size, off_t offset) {
  return pread(file, to, size, offset);
}
EXPORT ssize_t readv(int file, const struct iovec* parts, int count) {
  return fails(kRead) ? -1 : syscall(SYS_readv, file, parts, count);
}
EXPORT ssize_t preadv2(int file, const struct iovec* parts, int count, off_t offset, int flags) {
  if (fails(kRead)) return -1;
  return syscall(SYS_preadv2, file, parts, count, (long)offset, (long)0, flags);
}
EXPORT ssize_t preadv64v2(int file, const struct iovec* parts, int count, off_t offset, int flags) {
  return preadv2(file, parts, count, offset, flags);
}
EXPORT ssize_t write(int file, const void* from, size_t size) {
  return file > 2 && fails(kWrite) ? -1 : syscall(SYS_write, file, from, size);
}
EXPORT ssize_t writev(int file, const struct iovec* parts, int count) {
  return file > 2 && fails(kWrite) ? -1 : syscall(SYS_writev, file, parts, count);
}

/* ---- Threads ---- */

EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                          void* argument) {
  if (fails(kThread)) return EAGAIN;
  typedef int (*Create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return NEXT(Create, "pthread_create")(thread, attributes, body, argument);
}
