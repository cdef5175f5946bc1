// SPDX-License-Identifier: Apache-2.0
// A program that after a warm-up may neither make a system call nor take memory nor take a lock, and makes driver calls.
#include <cuda.h>
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace {

// Both stand before the library's own: whoever takes memory or a lock in this process comes here.
bool forbidden = false;

[[noreturn]] void caught(const char *what) {
  (void)!::write(STDERR_FILENO, what, std::strlen(what));
  ::syscall(SYS_exit, 70);
  std::abort();
}

}  // namespace

extern "C" void *__libc_malloc(std::size_t size);
extern "C" void *malloc(std::size_t size) noexcept {
  if (forbidden) caught("malloc\n");
  return __libc_malloc(size);
}

extern "C" int pthread_mutex_lock(pthread_mutex_t *mutex) noexcept {
  if (forbidden) caught("pthread_mutex_lock\n");
  static const auto next = reinterpret_cast<int (*)(pthread_mutex_t *)>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return next(mutex);
}

namespace {

void forbid(const char *sin) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  // Not the kernel's own strict mode: that also takes the processor's counter away, which the C library's clock reads too.
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(rules)), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) ::_exit(72);
  forbidden = true;
  if (std::strcmp(sin, "allocate") == 0) {
    void *volatile taken = malloc(1);
    (void)taken;
  }
  if (std::strcmp(sin, "lock") == 0) pthread_mutex_lock(&mutex);
  if (std::strcmp(sin, "system-call") == 0) (void)::syscall(SYS_getppid);
}

__attribute__((noinline)) void make_calls(int count) {
  CUcontext context = nullptr;
  for (int i = 0; i < count; ++i) {
    (void)cuCtxGetCurrent(&context);
    (void)cuCtxSynchronize();
  }
}

}  // namespace

// strict CALLS [allocate | lock | system-call]: with the second it does that itself, which shows that the trap works.
int main(int argc, char **argv) {
  const int calls = argc > 1 ? std::atoi(argv[1]) : 0;
  const char *const sin = argc > 2 ? argv[2] : "";
  if (cuInit(0) != CUDA_SUCCESS) return 71;
  // Twice from one place, so that the second time every stack has been seen; the compiler may not make two of it.
  std::atomic<int> round{0};
  do {
    if (round == 1) forbid(sin);
    make_calls(round == 1 ? calls : 3);
  } while (++round < 2);
  ::syscall(SYS_exit, 0);
}
