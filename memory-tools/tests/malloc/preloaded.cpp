// SPDX-License-Identifier: Apache-2.0
//
// A program that runs with an allocator of malloc/ preloaded, and checks that every function of the
// C library and of C++ keeps the rules of its standard. STRID_PRELOADED names the library, which
// must exist.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Hidden from the compiler, which recognises malloc and drops calls without an effect.
template <class Value>
Value opaque(Value value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

constexpr std::size_t impossible_bytes = std::size_t{1} << 62;

bool is_aligned(const void* memory, std::size_t alignment) {
    return reinterpret_cast<std::uintptr_t>(memory) % alignment == 0;
}

TEST(Preloaded, is_the_allocator_that_was_asked_for) {
    const char* const library = std::getenv("STRID_PRELOADED");
    ASSERT_NE(library, nullptr);
    std::ifstream maps("/proc/self/maps");
    const std::string all((std::istreambuf_iterator<char>(maps)), {});
    EXPECT_NE(all.find(library), std::string::npos);
}

TEST(Preloaded, malloc_of_nothing_is_a_block_of_its_own) {
    void* const one = opaque(std::malloc(opaque(std::size_t{0})));
    void* const other = opaque(std::malloc(opaque(std::size_t{0})));
    EXPECT_NE(one, nullptr);
    EXPECT_NE(one, other);
    std::free(one);
    std::free(other);
    std::free(opaque<void*>(nullptr));
}

TEST(Preloaded, what_is_too_large_fails_with_enomem) {
    for (const std::size_t bytes :
         {std::size_t{PTRDIFF_MAX} + 1, SIZE_MAX, SIZE_MAX - 15, impossible_bytes}) {
        errno = 0;
        EXPECT_EQ(opaque(std::malloc(opaque(bytes))), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        errno = 0;
        EXPECT_EQ(opaque(std::calloc(opaque(bytes), 1)), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        void* const block = std::malloc(10);
        std::memcpy(block, "unchanged", 10);
        errno = 0;
        EXPECT_EQ(opaque(std::realloc(opaque(block), opaque(bytes))), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_STREQ(static_cast<char*>(block), "unchanged");
        std::free(block);
    }
    errno = 0;
    EXPECT_EQ(opaque(std::calloc(opaque(SIZE_MAX / 2), 3)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(opaque(reallocarray(nullptr, opaque(SIZE_MAX / 2), 3)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

// The kernel refuses them, unless it promises everything.
TEST(Preloaded, more_than_memory_and_swap_fails_with_enomem) {
    int promises = 0;
    std::ifstream("/proc/sys/vm/overcommit_memory") >> promises;
    if (promises == 1) GTEST_SKIP() << "vm.overcommit_memory is 1";
    struct sysinfo machine {};
    ASSERT_EQ(sysinfo(&machine), 0);
    const std::size_t bytes =
        (machine.totalram + machine.totalswap) * machine.mem_unit + (std::size_t{1} << 30);
    errno = 0;
    EXPECT_EQ(opaque(std::malloc(opaque(bytes))), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    errno = 0;
    EXPECT_EQ(opaque(std::calloc(opaque(bytes), 1)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    for (const std::size_t before : {std::size_t{10}, std::size_t{20} << 20}) {
        void* const block = std::malloc(before);
        std::memcpy(block, "unchanged", 10);
        errno = 0;
        EXPECT_EQ(opaque(std::realloc(opaque(block), opaque(bytes))), nullptr);
        EXPECT_EQ(errno, ENOMEM);
        EXPECT_STREQ(static_cast<char*>(block), "unchanged");
        std::free(block);
    }
    EXPECT_THROW(opaque(::operator new(opaque(bytes))), std::bad_alloc);
}

bool finds_double_frees() {
    return std::strstr(std::getenv("STRID_PRELOADED"), "tlsf") == nullptr;
}

void free_all(const std::vector<void*>& blocks) {
    for (void* const block : blocks) std::free(opaque(block));
}

TEST(Preloaded, a_double_free_aborts_with_one_line) {
    if (!finds_double_frees()) GTEST_SKIP() << "TLSF does not look for them";
    constexpr const char* line = "^strid: error: block freed twice \\(0x[0-9a-f]+\\)\n$";
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{24}, std::size_t{250}}) {
        void* const a = std::malloc(bytes);
        void* const b = std::malloc(bytes);
        EXPECT_EXIT(free_all({a, a}), testing::KilledBySignal(SIGABRT), line);
        EXPECT_EXIT(free_all({a, b, a}), testing::KilledBySignal(SIGABRT), line);
        // By a thread that did not allocate them, and has a heap of its own.
        EXPECT_EXIT(std::thread([a, b] {
                        void* const own = opaque(std::malloc(10));
                        free_all({a, b, a, own});
                    }).join(),
                    testing::KilledBySignal(SIGABRT), line);
        free_all({a, b});
    }
}

TEST(Preloaded, free_leaves_errno_as_it_is) {
    for (const std::size_t bytes : {std::size_t{20}, std::size_t{100'000}, std::size_t{50} << 20}) {
        void* const block = opaque(std::malloc(bytes));
        errno = 77;
        std::free(block);
        EXPECT_EQ(errno, 77);
    }
}

TEST(Preloaded, calloc_is_zero_also_in_memory_that_was_used) {
    for (const std::size_t bytes : {24, 1000, 30'000, 70'000, 1'000'000, 20'000'000}) {
        for (int round = 0; round < 4; ++round) {
            auto* const block = static_cast<unsigned char*>(opaque(std::calloc(bytes, 1)));
            ASSERT_NE(block, nullptr);
            std::size_t sum = 0;
            for (std::size_t at = 0; at < bytes; ++at) sum += block[at];
            EXPECT_EQ(sum, 0U);
            std::memset(block, 0x55, bytes);
            opaque(block);
            std::free(block);
        }
    }
}

TEST(Preloaded, realloc_keeps_what_was_there) {
    std::size_t bytes = 1;
    auto* block = static_cast<unsigned char*>(std::malloc(bytes));
    block[0] = 0;
    for (const std::size_t next : {10, 100, 90, 5000, 4000, 40'000, 200'000, 150'000, 3'000'000,
                                   30'000'000, 60'000'000, 5'000'000, 70'000, 50, 1}) {
        block = static_cast<unsigned char*>(opaque(std::realloc(block, next)));
        ASSERT_NE(block, nullptr);
        ASSERT_GE(malloc_usable_size(block), next);
        for (std::size_t at = 0; at < std::min(bytes, next); ++at) {
            ASSERT_EQ(block[at], static_cast<unsigned char>(at * 7 >> 3));
        }
        for (std::size_t at = 0; at < next; ++at)
            block[at] = static_cast<unsigned char>(at * 7 >> 3);
        bytes = next;
    }
    EXPECT_EQ(opaque(std::realloc(block, opaque(std::size_t{0}))), nullptr);
    EXPECT_EQ(malloc_usable_size(nullptr), 0U);
}

TEST(Preloaded, aligned_forms_align) {
    for (std::size_t alignment = 8; alignment <= (std::size_t{64} << 20); alignment *= 2) {
        for (const std::size_t bytes : {std::size_t{1}, alignment, std::size_t{40'000}}) {
            void* block = nullptr;
            ASSERT_EQ(posix_memalign(&block, alignment, bytes), 0);
            EXPECT_TRUE(is_aligned(block, alignment));
            std::memset(block, 1, bytes);
            std::free(block);
            block = opaque(aligned_alloc(alignment, bytes));
            EXPECT_TRUE(block != nullptr && is_aligned(block, alignment));
            std::free(block);
        }
    }
    void* const odd = opaque(memalign(opaque(std::size_t{48}), 100));
    EXPECT_TRUE(odd != nullptr && is_aligned(odd, 64));
    std::free(odd);
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const page = opaque(valloc(5));
    EXPECT_TRUE(page != nullptr && is_aligned(page, page_bytes));
    std::free(page);
    void* const pages = opaque(pvalloc(page_bytes + 1));
    EXPECT_TRUE(pages != nullptr && is_aligned(pages, page_bytes));
    EXPECT_GE(malloc_usable_size(pages), 2 * page_bytes);
    std::free(pages);
}

TEST(Preloaded, wrong_alignments_are_refused) {
    void* block = &block;
    EXPECT_EQ(posix_memalign(&block, opaque(std::size_t{24}), 10), EINVAL);
    EXPECT_EQ(posix_memalign(&block, opaque(std::size_t{4}), 10), EINVAL);
    EXPECT_EQ(posix_memalign(&block, opaque(std::size_t{0}), 10), EINVAL);
    EXPECT_EQ(posix_memalign(&block, 64, opaque(impossible_bytes)), ENOMEM);
    EXPECT_EQ(block, &block);
    errno = 0;
    EXPECT_EQ(opaque(aligned_alloc(opaque(std::size_t{24}), 48)), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST(Preloaded, every_form_of_new_and_delete) {
    struct alignas(256) Wide {
        char bytes[300];
    };
    for (int round = 0; round < 100; ++round) {
        delete opaque(new int(1));
        delete[] opaque(new int[7]);
        Wide* const wide = opaque(new Wide);
        EXPECT_TRUE(is_aligned(wide, 256));
        delete wide;
        Wide* const array = opaque(new Wide[3]);
        EXPECT_TRUE(is_aligned(array, 256));
        delete[] array;
        int* const quiet = opaque(new (std::nothrow) int(2));
        ::operator delete(quiet, std::nothrow);
        int* const quiet_array = opaque(new (std::nothrow) int[2]);
        ::operator delete[](quiet_array, std::nothrow);
        Wide* const quiet_wide = opaque(new (std::nothrow) Wide);
        EXPECT_TRUE(is_aligned(quiet_wide, 256));
        ::operator delete(quiet_wide, std::align_val_t{256}, std::nothrow);
        ::operator delete(opaque(::operator new(24)), std::size_t{24});
        ::operator delete[](opaque(::operator new[](24)), std::size_t{24});
    }
}

bool handler_was_called = false;

TEST(Preloaded, new_without_memory_calls_its_handler_and_throws) {
    EXPECT_THROW(opaque(::operator new(opaque(impossible_bytes))), std::bad_alloc);
    EXPECT_THROW(opaque(::operator new[](opaque(impossible_bytes), std::align_val_t{64})),
                 std::bad_alloc);
    EXPECT_EQ(opaque(::operator new(opaque(impossible_bytes), std::nothrow)), nullptr);
    std::set_new_handler([] {
        handler_was_called = true;
        std::set_new_handler(nullptr);
    });
    EXPECT_EQ(opaque(::operator new[](opaque(impossible_bytes), std::nothrow)), nullptr);
    EXPECT_TRUE(handler_was_called);
    std::set_new_handler([] { throw std::bad_alloc(); });
    EXPECT_EQ(opaque(::operator new(opaque(impossible_bytes), std::nothrow)), nullptr);
    std::set_new_handler(nullptr);
}

// Blocks that live over the fork, and threads that allocate meanwhile.
TEST(Preloaded, the_child_of_a_fork_allocates_and_frees) {
    std::atomic<bool> ends{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&ends] {
            while (!ends) {
                std::vector<std::unique_ptr<int[]>> blocks;
                for (std::size_t n = 1; n < 200; ++n) {
                    blocks.push_back(std::make_unique<int[]>(n * n % 9000));
                }
            }
        });
    }
    std::vector<std::string> texts;
    for (int i = 0; i < 1000; ++i) texts.push_back(std::string(static_cast<std::size_t>(i), 'x'));
    for (int round = 0; round < 20; ++round) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(30);
            std::size_t bytes = 0;
            for (std::string& text : texts) bytes += text.size();
            texts.clear();
            texts.shrink_to_fit();
            // A thread of the child, too.
            std::thread([&bytes] {
                std::vector<std::string> more(2000, std::string(100, 'y'));
                bytes += more.size();
            }).join();
            _exit(bytes == 999 * 1000 / 2 + 2000 ? 0 : 1);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    ends = true;
    for (std::thread& thread : threads) thread.join();
}

// The values under a thread's keys are freed after the allocator has ended the thread's heap, and
// the destructors allocate more.
TEST(Preloaded, a_thread_allocates_and_frees_while_it_ends) {
    static int endings = 0;
    static pthread_key_t key;
    ASSERT_EQ(pthread_key_create(&key,
                                 [](void* value) {
                                     std::free(value);
                                     void* const more = opaque(std::malloc(1000));
                                     std::memset(more, 1, 1000);
                                     if (++endings % 4 == 0) {
                                         std::free(more);
                                     } else {
                                         pthread_setspecific(key, more);
                                     }
                                 }),
              0);
    for (int i = 0; i < 50; ++i) {
        endings = 0;
        std::thread([] { pthread_setspecific(key, std::malloc(500)); }).join();
        EXPECT_EQ(endings, 4);
    }
    pthread_key_delete(key);
}

std::size_t resident_kib() {
    std::ifstream status("/proc/self/statm");
    std::size_t all = 0;
    std::size_t resident = 0;
    status >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

TEST(Preloaded, many_threads_do_not_add_up) {
    const auto run = [](int count) {
        for (int i = 0; i < count; ++i) {
            std::thread([] { std::vector<std::string> some(500, std::string(60, 'z')); }).join();
        }
    };
    run(20);
    const std::size_t before = resident_kib();
    run(500);
    EXPECT_LE(resident_kib(), before + 1024);
}

TEST(Preloaded, what_is_free_goes_back_to_the_kernel) {
    malloc_trim(0);
    const std::size_t before = resident_kib();
    {
        std::vector<std::unique_ptr<char[]>> blocks;
        for (std::size_t i = 0; i < 40'000; ++i) {
            blocks.push_back(std::make_unique<char[]>(100 + i % 3000));
        }
        EXPECT_GE(resident_kib(), before + 50'000);
    }
    malloc_trim(0);
    EXPECT_LE(resident_kib(), before + 2000);
}

}  // namespace
