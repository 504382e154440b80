// SPDX-License-Identifier: Apache-2.0
#include "trace_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace strid::trace {

namespace {

constexpr std::size_t kPathMax = 4096;
constinit char folder[kPathMax - 64] = {};
constinit char file_path[kPathMax] = {};

/// posix_fallocate with its errors in errno, and none of the signal of a limited file size.
bool allocate_space(int file, std::uint64_t offset, std::size_t bytes) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        offset + bytes > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    int error = 0;
    do {
        error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    } while (error == EINTR);
    errno = error;
    return error == 0;
}

}  // namespace

Session* find_session() {
    const char* const name = std::getenv(kFolderVariable);
    if (!name || name[0] != '/' || std::strlen(name) >= sizeof(folder)) return nullptr;
    std::strcpy(folder, name);
    std::snprintf(file_path, sizeof(file_path), "%s/session", folder);
    const int file = open(file_path, O_RDWR | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* const memory =
        mmap(nullptr, sizeof(Session), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return nullptr;
    auto* const session = static_cast<Session*>(memory);
    return session->magic == kSessionMagic ? session : nullptr;
}

void name_file(Session& session) {
    const std::uint32_t number = __atomic_fetch_add(&session.started, 1, __ATOMIC_RELAXED);
    std::snprintf(file_path, sizeof(file_path), "%s/%06u-%d.trace", folder, number,
                  static_cast<int>(getpid()));
}

ChunkHead* append_chunk(std::size_t bytes, std::uint64_t& file_bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t rounded = (bytes + page - 1) / page * page;
    const int flags = O_RDWR | O_CLOEXEC | (file_bytes == 0 ? O_CREAT | O_EXCL : 0);
    const int file = open(file_path, flags, 0600);
    if (file < 0) return nullptr;
    void* memory = MAP_FAILED;
    if (allocate_space(file, file_bytes, rounded)) {
        memory = mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      static_cast<off_t>(file_bytes));
    }
    const int error = errno;
    close(file);
    errno = error;
    if (memory == MAP_FAILED) return nullptr;
    madvise(memory, rounded, MADV_DONTFORK);
    auto* const head = static_cast<ChunkHead*>(memory);
    head->bytes = rounded;
    file_bytes += rounded;
    return head;
}

void mark_ready(ChunkHead& head, ChunkType type, std::uint32_t index) {
    head.index = index;
    // Read by another process, which waits for this one or takes what is there.
    __atomic_store_n(&head.type, static_cast<std::uint32_t>(type), __ATOMIC_RELEASE);
}

void report_failure(Session& session, int error) {
    std::uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&session.failed_errno, &expected,
                                    static_cast<std::uint32_t>(error), false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        session.failed_pid = static_cast<std::uint32_t>(getpid());
    }
    __atomic_fetch_add(&session.failed, 1, __ATOMIC_RELAXED);
}

std::size_t read_file(const char* path, char* text, std::size_t bytes) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    std::size_t length = 0;
    while (length < bytes) {
        const ssize_t got = read(file, text + length, bytes - length);
        if (got <= 0) break;
        length += static_cast<std::size_t>(got);
    }
    close(file);
    return length;
}

}  // namespace strid::trace
