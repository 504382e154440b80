// SPDX-License-Identifier: Apache-2.0
//
// A program of threads that allocate at random, pass pieces to each other and check their contents,
// while the process forks children that do the same. It runs under a malloc that is preloaded,
// whose file STRID_PRELOADED names. Large pieces go back to the system; a process that has used up
// its address space gets errors, and gets memory again when it has freed some.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

[[noreturn]] void broken(const char* what) {
    std::fprintf(stderr, "broken: %s\n", what);
    std::_Exit(1);
}

struct Piece {
    unsigned char* memory = nullptr;
    std::size_t bytes = 0;
    unsigned char fill = 0;
};

void check(const Piece& piece) {
    for (std::size_t i = 0; i < piece.bytes; ++i) {
        if (piece.memory[i] != piece.fill) broken("a piece has lost its bytes");
    }
}

/// Pieces wait here for any thread to take, check and free them.
class Exchange {
  public:
    Piece swap(Piece piece, std::size_t slot) {
        const std::lock_guard lock(mutex_);
        std::swap(pieces_[slot % pieces_.size()], piece);
        return piece;
    }

  private:
    std::mutex mutex_;
    std::array<Piece, 64> pieces_{};
};

Piece drawn_piece(std::mt19937_64& random) {
    const std::size_t bytes = random() % ((std::size_t{1} << random() % 18) + 1);
    const auto fill = static_cast<unsigned char>(random());
    void* memory = nullptr;
    switch (random() % 4) {
        case 0: {
            const std::size_t alignment = std::size_t{16} << random() % 10;
            memory = std::aligned_alloc(alignment, bytes);
            if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) broken("alignment");
            break;
        }
        case 1: {
            memory = std::calloc(bytes + 1, 1);
            check({static_cast<unsigned char*>(memory), bytes, 0});
            break;
        }
        case 2:
            memory = std::realloc(std::malloc(bytes / 2 + 1), bytes + 1);
            break;
        default:
            memory = ::operator new(bytes);
    }
    if (memory == nullptr || malloc_usable_size(memory) < bytes) broken("too few bytes");
    std::memset(memory, fill, bytes);
    return {static_cast<unsigned char*>(memory), bytes, fill};
}

void work(Exchange& exchange, std::uint64_t seed, int steps) {
    std::mt19937_64 random(seed);
    std::array<Piece, 50> own{};
    for (int i = 0; i < steps; ++i) {
        Piece& place = own[random() % own.size()];
        check(place);
        if (random() % 4 == 0) {
            place = exchange.swap(place, random());
        } else {
            std::free(place.memory);
            place = drawn_piece(random);
        }
    }
    for (const Piece& piece : own) {
        check(piece);
        std::free(piece.memory);
    }
}

void fork_and_wait(std::uint64_t seed) {
    const pid_t child = fork();
    if (child == 0) {
        Exchange exchange;  // not the parents': a thread that is not here may hold its lock
        work(exchange, seed, 2000);
        std::_Exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) broken("a child");
}

std::size_t pages_of_process() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    std::size_t pages = 0;
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) broken("statm");
    std::fclose(file);
    return pages;
}

void fork_and_use_up_the_address_space() {
    const pid_t child = fork();
    if (child == 0) {
        const rlim_t bytes = pages_of_process() * 4096 + (rlim_t{256} << 20);
        const rlimit limit{bytes, bytes};
        if (setrlimit(RLIMIT_AS, &limit) != 0) broken("setrlimit");
        std::array<void*, 10'000> pieces{};
        std::size_t count = 0;
        errno = 0;
        while (void* const piece = std::malloc(100'000)) {
            if (count == pieces.size()) broken("more memory than the limit");
            pieces[count++] = piece;
        }
        if (errno != ENOMEM || count < 1000) broken("the error of a process without memory");
        for (std::size_t i = 0; i < count; ++i) std::free(pieces[i]);
        void* volatile again = std::malloc(100'000);
        std::_Exit(again == nullptr ? 1 : 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) broken("without memory");
}

void check_library() {
    const char* const library = std::getenv("STRID_PRELOADED");
    if (library == nullptr) broken("STRID_PRELOADED is not set");
    std::ifstream maps("/proc/self/maps");
    const std::string all(std::istreambuf_iterator<char>(maps), {});
    if (all.find(library) == std::string::npos) broken("the library is not loaded");
}

}  // namespace

int main() {
    check_library();
    const char* const given = std::getenv("STRID_TEST_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    constexpr int steps = 20'000;
    Exchange exchange;
    work(exchange, seed, steps);  // with one thread, as a program begins
    std::vector<std::thread> threads;
    std::atomic<int> running{4};
    for (std::uint64_t i = 1; i <= 4; ++i) {
        threads.emplace_back([&, i] {
            work(exchange, seed + i, steps);
            --running;
        });
    }
    do fork_and_wait(seed + 100);
    while (running > 0);
    for (std::thread& thread : threads) thread.join();
    for (std::size_t slot = 0; slot < 64; ++slot) std::free(exchange.swap({}, slot).memory);

    const std::size_t before = pages_of_process();
    void* volatile large = std::malloc(std::size_t{1} << 28);
    if (large == nullptr || pages_of_process() < before + 65'536) broken("a large piece");
    std::free(large);
    if (pages_of_process() > before + 1024) broken("a large piece is kept");
    fork_and_use_up_the_address_space();
}
