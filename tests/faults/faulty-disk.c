/*
 * A library to preload into a process. It kills the process, or lets one write fail, at a chosen step towards the disk.
 * FAULTY_DISK_FILE is a page that the process shares with the test. Only files whose path begins with FAULTY_DISK_ROOT
 * count. A step is a commit to a write-ahead log (from its commit frame to the end of the fsync), another fsync, or a
 * rename. In a process whose program's path begins with FAULTY_DISK_TALKER, a read of standard input that gave something
 * and a write to standard output are steps too.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum mode { OFF, KILL_BEFORE, KILL_AFTER, FAIL };

static volatile struct {
  int32_t mode;
  int32_t at;      /* the step that is hit, from 1 on */
  int32_t error;   /* errno of FAIL */
  int32_t begun;   /* steps since armed */
  int32_t ended;
  int32_t fired;
} *plan;
static const char *root;
static int talks;

static ssize_t (*real_read)(int, void *, size_t);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_rename)(const char *, const char *);

__attribute__((constructor)) static void open_plan(void) {
  real_read = dlsym(RTLD_NEXT, "read");
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_rename = dlsym(RTLD_NEXT, "rename");
  const char *path = getenv("FAULTY_DISK_FILE");
  root = getenv("FAULTY_DISK_ROOT");
  const char *talker = getenv("FAULTY_DISK_TALKER");
  char program[4096] = "";
  talks = talker && readlink("/proc/self/exe", program, sizeof program - 1) > 0 &&
    strncmp(program, talker, strlen(talker)) == 0;
  int file = path && root ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *page = mmap(0, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) plan = page;
  close(file);
}

static void die(void) {
  plan->fired = 1;
  raise(SIGKILL);
  for (;;) pause();
}

/* Returns 1 when the step must fail, with errno set. Kills the process when that is due before the step. */
static int begin_step(void) {
  int step = __sync_add_and_fetch(&plan->begun, 1);
  if (step != plan->at || plan->fired) return 0;
  if (plan->mode == KILL_BEFORE) die();
  if (plan->mode != FAIL) return 0;
  plan->fired = 1;
  errno = plan->error;
  return 1;
}

static void end_step(void) {
  int step = __sync_add_and_fetch(&plan->ended, 1);
  if (step == plan->at && plan->mode == KILL_AFTER) die();
}

static int counts(const char *path) { return strncmp(path, root, strlen(root)) == 0; }

/* Returns 0 for a file that does not count, 1 for one that does, 2 for a write-ahead log that does. */
static int kind_of(int file) {
  char link[32], path[4096];
  if (!plan || plan->mode == OFF) return 0;
  int saved = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = saved;
  if (length < 0) return 0;
  path[length] = 0;
  if (!counts(path)) return 0;
  return length > 4 && strcmp(path + length - 4, "-wal") == 0 ? 2 : 1;
}

/* The header of a frame has 24 bytes. Its second word is not zero only in a frame that commits. */
static int is_commit_frame(const void *bytes, size_t size) {
  uint32_t pages;
  if (size != 24) return 0;
  memcpy(&pages, (const char *)bytes + 4, 4);
  return pages != 0;
}

ssize_t read(int file, void *bytes, size_t size) {
  /* Other libraries may read before this one is ready. */
  if (!real_read) real_read = dlsym(RTLD_NEXT, "read");
  ssize_t got = real_read(file, bytes, size);
  if (file == STDIN_FILENO && got > 0 && talks && plan && plan->mode != OFF) {
    begin_step();
    end_step();
  }
  return got;
}

/* A database that is not built for pwrite seeks, and writes the header of a frame with this. */
ssize_t write(int file, const void *bytes, size_t size) {
  if (!real_write) real_write = dlsym(RTLD_NEXT, "write");
  if (is_commit_frame(bytes, size) && kind_of(file) == 2 && begin_step()) return -1;
  int speaks = file == STDOUT_FILENO && talks && plan && plan->mode != OFF;
  if (speaks && begin_step()) return -1;
  ssize_t written = real_write(file, bytes, size);
  if (speaks) end_step();
  return written;
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
  if (is_commit_frame(bytes, size) && kind_of(file) == 2 && begin_step()) return -1;
  return real_pwrite64(file, bytes, size, offset);
}

static int synced(int file, int (*sync)(int)) {
  int kind = kind_of(file);
  if (kind == 1 && begin_step()) return -1;
  int failed = sync(file);
  if (kind) end_step();
  return failed;
}

int fsync(int file) { return synced(file, real_fsync); }
int fdatasync(int file) { return synced(file, real_fdatasync); }

int rename(const char *from, const char *to) {
  int steps = plan && plan->mode != OFF && counts(to);
  if (steps && begin_step()) return -1;
  int failed = real_rename(from, to);
  if (steps) end_step();
  return failed;
}
