// SPDX-License-Identifier: Apache-2.0
//
// Allocates what memory_trace_test.py expects: the first argument says what. It uses no stream, so
// that nothing else is allocated behind the scenes; the run with `nothing` shows what is.
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

volatile std::size_t too_many = static_cast<std::size_t>(-1) / 2;
// The compiler would make a malloc of a realloc of a constant.
void* volatile no_block = nullptr;

void* keep(void* block) {
    // The compiler must not leave out a call whose result is not used.
    asm volatile("" : : "r"(block) : "memory");
    return block;
}

void exact_sizes() {
    for (std::size_t size = 0; size <= 1100; ++size) {
        for (std::size_t i = 0; i <= size % 3; ++i) keep(malloc(size));
    }
    for (const int size : {1025, 2048, 2049, 1 << 20, (1 << 20) + 1})
        keep(malloc(static_cast<std::size_t>(size)));
}

struct Block {
    char bytes[401];
};

/// The functions that every allocator has.
void common_kinds() {
    for (int i = 0; i < 10; ++i) free(keep(calloc(3, 7)));
    void* block = keep(realloc(no_block, 100));
    for (std::size_t size = 200; size <= 2000; size += 100) block = keep(realloc(block, size));
    block = keep(realloc(block, 50));
    free(block);
    free(keep(aligned_alloc(64, 128)));
    if (posix_memalign(&block, 256, 301) == 0) free(keep(block));
    free(keep(memalign(32, 302)));
    // By its size, where the compiler does that.
    delete static_cast<Block*>(keep(new Block));
    operator delete[](keep(operator new[](402)));
    operator delete(keep(operator new(403, std::nothrow)), std::nothrow);
    operator delete(keep(operator new(404, std::align_val_t{64})), std::align_val_t{64});
    operator delete[](keep(operator new[](405, std::align_val_t{128})), std::align_val_t{128});
}

void kinds() {
    common_kinds();
    void* const block = keep(reallocarray(no_block, 11, 3));
    free(block);
    free(keep(valloc(303)));
    free(keep(pvalloc(304)));
    // Refused, all three.
    keep(reallocarray(no_block, too_many, 3));
    keep(operator new(too_many, std::nothrow));
    try {
        keep(operator new(too_many));
        std::abort();
    } catch (const std::bad_alloc&) {
    }
    free(no_block);
}

constexpr int kThreads = 4;
void* from_threads[kThreads][4000];

void* work(void* argument) {
    const auto index = reinterpret_cast<std::intptr_t>(argument);
    char name[16];
    std::snprintf(name, sizeof(name), "worker-%d", static_cast<int>(index));
    pthread_setname_np(pthread_self(), name);
    const std::intptr_t count = 1000 * (index + 1);
    for (std::intptr_t i = 0; i < count; ++i) {
        from_threads[index][i] = malloc(static_cast<std::size_t>(500 + index));
    }
    for (std::intptr_t i = 0; i < count / 2; ++i) free(from_threads[index][i]);
    return nullptr;
}

void threads() {
    pthread_t all[kThreads];
    for (std::intptr_t i = 0; i < kThreads; ++i) {
        pthread_create(&all[i], nullptr, work, reinterpret_cast<void*>(i));
    }
    for (pthread_t thread : all) pthread_join(thread, nullptr);
    for (int i = 0; i < kThreads; ++i) {
        for (int k = 500 * (i + 1); k < 1000 * (i + 1); ++k) free(from_threads[i][k]);
    }
}

void* of_the_one_before = nullptr;

void* hand_on(void*) {
    free(of_the_one_before);
    of_the_one_before = malloc(600);
    free(keep(malloc(601)));
    return nullptr;
}

void generations() {
    for (int i = 0; i < 3000; ++i) {
        pthread_t thread;
        pthread_create(&thread, nullptr, hand_on, nullptr);
        pthread_join(thread, nullptr);
    }
}

pthread_barrier_t all_there;

void* wait_for_all(void*) {
    keep(malloc(610));
    pthread_barrier_wait(&all_there);
    free(keep(malloc(611)));
    return nullptr;
}

void crowd() {
    constexpr int count = 300;
    static pthread_t all[count];
    pthread_barrier_init(&all_there, nullptr, count);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (pthread_t& thread : all) pthread_create(&thread, &attributes, wait_for_all, nullptr);
    for (pthread_t thread : all) pthread_join(thread, nullptr);
}

void child(const char* how, void** inherited) {
    for (int i = 0; i < 10; ++i) free(inherited[i]);
    for (int i = 0; i < 50; ++i) keep(malloc(how[0] == 'f' ? 701 : 702));
    _exit(0);
}

void forks() {
    static void* inherited[100];
    for (void*& block : inherited) block = malloc(700);
    if (const pid_t pid = fork(); pid == 0) {
        child("fork", inherited);
    } else {
        waitpid(pid, nullptr, 0);
    }
    // Without the C library's handlers of fork.
    if (const auto pid = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr)); pid == 0) {
        child("clone", inherited);
    } else {
        waitpid(pid, nullptr, 0);
    }
    for (void* block : inherited) free(block);
}

void vforks(const char* self) {
    for (int i = 0; i < 20; ++i) keep(malloc(710));
    const pid_t pid = vfork();
    if (pid == 0) {
        execl(self, self, "after", static_cast<char*>(nullptr));
        _exit(1);
    }
    waitpid(pid, nullptr, 0);
    for (int i = 0; i < 20; ++i) keep(malloc(711));
}

volatile std::sig_atomic_t handled = 0;

void allocate_in_handler(int) {
    free(keep(malloc(720)));
    handled = handled + 1;
}

void count_in_handler(int) {
    handled = handled + 1;
}

void signals() {
    // Where malloc is not interrupted, a handler may allocate.
    std::signal(SIGUSR1, allocate_in_handler);
    for (int i = 0; i < 500; ++i) std::raise(SIGUSR1);
    std::signal(SIGPROF, count_in_handler);
    itimerval every{.it_interval = {0, 200}, .it_value = {0, 200}};
    setitimer(ITIMER_PROF, &every, nullptr);
    for (int i = 0; i < 1'000'000; ++i) free(keep(malloc(721)));
    every = {};
    setitimer(ITIMER_PROF, &every, nullptr);
}

void peak() {
    void* blocks[10];
    for (void*& block : blocks) block = keep(malloc(1'000'000));
    for (void* block : blocks) free(block);
}

void lifetimes() {
    for (int i = 0; i < 5000; ++i) free(keep(malloc(40)));
    void* const long_lived = keep(malloc(2000));
    for (int i = 0; i < 1000; ++i) free(keep(malloc(41)));
    free(long_lived);
}

void* passed[16];

void* pass_on(void* argument) {
    auto random = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(argument));
    for (int i = 0; i < 50'000; ++i) {
        random = random * 1664525U + 1013904223U;
        void* const block = malloc(random >> 16 & 7 ? 100 : 100'000);
        free(__atomic_exchange_n(&passed[random >> 8 & 15], block, __ATOMIC_ACQ_REL));
    }
    return nullptr;
}

void exchange() {
    pthread_t other;
    pthread_create(&other, nullptr, pass_on, reinterpret_cast<void*>(std::uintptr_t{7}));
    pass_on(reinterpret_cast<void*>(std::uintptr_t{8}));
    pthread_join(other, nullptr);
    for (void* block : passed) free(block);
}

void ready_and_wait() {
    for (int i = 0; i < 1000; ++i) keep(malloc(730));
    if (write(1, "ready\n", 6) != 6) std::abort();
    for (;;) pause();
}

void fast(long count) {
    for (long i = 0; i < count; ++i) free(keep(malloc(static_cast<std::size_t>(16 + i % 64))));
}

void phases() {
    // 20 MB are live for 60 ms, then 1 MB for as long, while small blocks come and go.
    for (const int size : {20'000'000, 1'000'000}) {
        void* const block = keep(malloc(static_cast<std::size_t>(size)));
        timespec begin{};
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &begin);
        do {
            free(keep(malloc(64)));
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1'000'000 <
                 60);
        free(block);
    }
}

// Functions with names and frames of their own: the compiler neither inlines them nor jumps where
// it should call.
[[gnu::noinline]] void asks_for_small() {
    for (int i = 0; i < 100; ++i) keep(malloc(1000));
}
[[gnu::noinline]] void asks_for_large() {
    for (int i = 0; i < 50; ++i) keep(operator new(3000));
    void* block = keep(malloc(500));
    keep(realloc(block, 7000));
}
[[gnu::noinline]] void asks_for_both() {
    asks_for_small();
    asks_for_large();
    keep(no_block);
}
[[gnu::noinline]] void* asks_in_thread(void* /*nothing*/) {
    asks_for_both();
    return keep(no_block);
}

void stacks() {
    asks_for_large();
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, asks_in_thread, nullptr) == 0) {
        pthread_join(thread, nullptr);
    }
    const pid_t child = fork();
    if (child == 0) {
        asks_for_small();
        _exit(0);
    }
    waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
    const char* const what = count > 1 ? arguments[1] : "nothing";
    const auto is = [what](const char* name) { return std::strcmp(what, name) == 0; };
    if (is("sizes")) exact_sizes();
    if (is("kinds")) kinds();
    if (is("common_kinds")) common_kinds();
    if (is("threads")) threads();
    if (is("generations")) generations();
    if (is("crowd")) crowd();
    if (is("forks")) forks();
    if (is("vforks")) vforks(arguments[0]);
    if (is("signals")) signals();
    if (is("peak")) peak();
    if (is("lifetimes")) lifetimes();
    if (is("exchange")) exchange();
    if (is("wait")) ready_and_wait();
    if (is("fast")) fast(std::atol(arguments[2]));
    if (is("phases")) phases();
    if (is("stacks")) stacks();
    if (is("after")) {
        for (int i = 0; i < 30; ++i) keep(malloc(712));
    }
    if (is("exec")) {
        for (int i = 0; i < 25; ++i) keep(malloc(713));
        execl(arguments[0], arguments[0], "after", static_cast<char*>(nullptr));
    }
    if (is("abort")) {
        for (int i = 0; i < 25; ++i) keep(malloc(714));
        std::abort();
    }
    if (is("status")) return 37;
    if (is("execute")) {
        execl(arguments[2], arguments[2], arguments[3], static_cast<char*>(nullptr));
    }
    return 0;
}
