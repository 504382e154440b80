// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/connector/output_file.hpp>

namespace strid {

namespace {

// Keeps a SIGPIPE that this thread's write raises from reaching the process, whose disposition of
// the signal is not the library's to change.
class SigpipeHeldBack {
  public:
    explicit SigpipeHeldBack(bool active) noexcept : active_(active) {
        if (!active_) return;
        ::sigemptyset(&pipe_);
        ::sigaddset(&pipe_, SIGPIPE);
        sigset_t pending;
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~SigpipeHeldBack() {
        if (!active_) return;
        const int error = errno;
        const timespec at_once{0, 0};
        if (!was_pending_) {
            while (::sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
            }
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    SigpipeHeldBack(const SigpipeHeldBack&) = delete;
    SigpipeHeldBack& operator=(const SigpipeHeldBack&) = delete;

  private:
    bool active_;
    bool was_pending_ = false;
    sigset_t pipe_{};
    sigset_t before_{};
};

/// /dev/null takes everything at once.
bool is_null_device(const struct stat& status) noexcept {
    struct stat null {};
    return S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 &&
           status.st_rdev == null.st_rdev;
}

bool blocks(const struct stat& status) noexcept {
    return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode) && !is_null_device(status);
}

}  // namespace

OutputFile::~OutputFile() {
    if (descriptor_ >= 0 && path_ != "-") ::close(descriptor_);
}

void OutputFile::fail(const char* what, int error) {
    throw InputOutputError((path_ == "-" ? "standard output" : path_) + ": " + what + ": " +
                           std::generic_category().message(error));
}

bool OutputFile::may_block() const noexcept {
    struct stat status {};
    const int failed =
        path_ == "-" ? ::fstat(STDOUT_FILENO, &status) : ::stat(path_.c_str(), &status);
    return failed == 0 && blocks(status);
}

bool OutputFile::open(std::string_view header) {
    const std::scoped_lock lock(mutex_);
    if (users_ > 0) {
        ++users_;
        return false;
    }
    if (path_ == "-") {
        descriptor_ = STDOUT_FILENO;
    } else {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (descriptor_ < 0) fail("cannot open for writing", errno);
    }
    struct stat status {};
    raises_sigpipe_ = ::fstat(descriptor_, &status) == 0 && blocks(status);
    failed_with_ = 0;
    try {
        write_all(header);
    } catch (...) {
        const int descriptor = std::exchange(descriptor_, -1);
        if (path_ != "-") ::close(descriptor);
        throw;
    }
    users_ = 1;
    return true;
}

void OutputFile::append(std::string_view rows) {
    const std::scoped_lock lock(mutex_);
    write_all(rows);
}

void OutputFile::write_all(std::string_view rows) {
    if (rows.empty()) return;
    if (failed_with_ != 0) fail("cannot write", failed_with_);
    if (descriptor_ < 0) fail("cannot write", EBADF);
    const SigpipeHeldBack guard(raises_sigpipe_);
    while (!rows.empty()) {
        const ssize_t written = ::write(descriptor_, rows.data(), rows.size());
        if (written >= 0) {
            rows.remove_prefix(static_cast<std::size_t>(written));
            continue;
        }
        if (errno == EINTR) continue;
        if (errno == EAGAIN) {  // a pipe that somebody else made non-blocking
            struct pollfd waited {
                descriptor_, POLLOUT, 0
            };
            ::poll(&waited, 1, -1);
            continue;
        }
        failed_with_ = errno;
        fail("cannot write", failed_with_);
    }
}

void OutputFile::close() {
    const std::scoped_lock lock(mutex_);
    if (users_ == 0 || --users_ > 0) return;
    const int descriptor = std::exchange(descriptor_, -1);
    if (path_ == "-") return;
    if (::close(descriptor) != 0 && errno != EINTR) fail("cannot close", errno);
}

}  // namespace strid
