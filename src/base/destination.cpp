// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <strid/base/destination.hpp>
#include <strid/base/error.hpp>

namespace strid {

namespace {

constexpr int slice_ms = 50;  // how soon an interruption has an effect

// Blocks a SIGPIPE that this thread's write raises: the library must not change the disposition of
// the process.
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

/// The same pipe or terminal opened anew, so that only this descriptor does not block. Negative if
/// that is impossible: a socket, a terminal of another user, a pipe without a reader.
int opened_anew(int descriptor) noexcept {
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    return ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool is_writable(int descriptor) noexcept {
    const int flags = ::fcntl(descriptor, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

}  // namespace

Destination::Destination(std::string path, Writing writing)
    : path_(std::move(path)), writing_(writing) {}

Destination::~Destination() {
    discard();
}

void Destination::fail(const char* what, int error) const {
    const bool reader_left = error == EPIPE;
    throw InputOutputError((path_ == "-" ? "standard output" : path_) + ": " + what + ": " +
                           (reader_left ? "what read it has closed it (" : "") +
                           std::generic_category().message(error) + (reader_left ? ")" : ""));
}

void Destination::open() {
    begin(Use::once, nullptr);
}

void Destination::open_to_go_on(const UnfinishedFile* before) {
    begin(Use::to_go_on, before);
}

void Destination::begin(Use use, const UnfinishedFile* before) {
    waits_ = is_socket_ = shared_flags_ = false;
    if (path_ == "-") {
        owned_ = false;
        descriptor_ = STDOUT_FILENO;
    } else {
        open_named(use, before);
    }
    open_ = true;
    struct stat status {};
    if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return;
    is_socket_ = S_ISSOCK(status.st_mode);
    waits_ = file_may_block(path_, StandardStream::output);
    if (!waits_ || (::fcntl(descriptor_, F_GETFL) & O_NONBLOCK) != 0) return;
    const int anew = is_socket_ ? -1 : opened_anew(descriptor_);
    shared_flags_ = anew < 0;
    if (anew >= 0) adopt(anew);
}

void Destination::adopt(int descriptor) {
    if (owned_) ::close(descriptor_);
    descriptor_ = descriptor;
    owned_ = true;
}

void Destination::open_named(Use use, const UnfinishedFile* before) {
    struct stat status {};
    if (path_.empty()) fail("cannot open for writing", ENOENT);
    const auto place = find_place(path_);
    if (!place) fail("cannot open for writing", errno);
    owned_ = true;
    if (place->descriptor >= 0) {
        if (!is_writable(place->descriptor)) fail("cannot open for writing", EBADF);
        descriptor_ = ::fcntl(place->descriptor, F_DUPFD_CLOEXEC, 0);
        if (descriptor_ < 0) fail("cannot open for writing", errno);
        return;
    }
    const bool is_there = ::stat(path_.c_str(), &status) == 0;
    if (writing_ == Writing::whole && (!is_there || S_ISREG(status.st_mode))) {
        owned_ = false;
        whole_ = use == Use::once
                     ? std::make_unique<WholeFile>(path_, *place)
                     : std::make_unique<WholeFile>(
                           path_, *place,
                           before != nullptr && before->beside.empty() ? nullptr : before);
        descriptor_ = whole_->descriptor();
        return;
    }
    if (before != nullptr && (before->bytes != 0 || (is_there && S_ISREG(status.st_mode)))) {
        return go_on_live(*before);
    }
    descriptor_ = ::open(path_.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    const bool lacks_reader = descriptor_ < 0 && errno == ENXIO && S_ISFIFO(status.st_mode);
    if (descriptor_ < 0 && !lacks_reader) fail("cannot open for writing", errno);
}

void Destination::go_on_live(const UnfinishedFile& before) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor_ < 0) fail("cannot open for writing", errno);
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) fail("cannot go on", errno);
    if (static_cast<std::uint64_t>(found.st_size) < before.bytes) {
        throw InputOutputError(path_ + ": has " + std::to_string(found.st_size) +
                               " bytes, and had " + std::to_string(before.bytes) +
                               " when the snapshot was taken");
    }
    const auto bytes = static_cast<off_t>(before.bytes);
    if (::ftruncate(descriptor_, bytes) != 0 || ::lseek(descriptor_, bytes, SEEK_SET) != bytes) {
        fail("cannot go on", errno);
    }
}

std::uint64_t Destination::written() const noexcept {
    struct stat status {};
    const bool is_plain = descriptor_ >= 0 && (owned_ || whole_) &&
                          ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
    const off_t at = is_plain ? ::lseek(descriptor_, 0, SEEK_CUR) : 0;
    return at < 0 ? 0 : static_cast<std::uint64_t>(at);
}

UnfinishedFile Destination::unfinished() const {
    if (whole_) return whole_->unfinished();
    return {.beside = {}, .bytes = written(), .mode = 0, .inode = 0};
}

int Destination::to_synchronize() const {
    if (written() == 0) return -1;
    const int again = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
    if (again < 0) fail("cannot be synchronised", errno);
    return again;
}

void Destination::suspend() noexcept {
    if (whole_) whole_->suspend();
    discard();
}

void Destination::wait_for_reader(const std::atomic<bool>& interrupted) {
    while (descriptor_ < 0) {
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (descriptor_ >= 0) break;
        if (errno != ENXIO && errno != EINTR) fail("cannot open for writing", errno);
        if (interrupted.load(std::memory_order_relaxed)) throw Interrupted();
        ::poll(nullptr, 0, slice_ms);
    }
    waits_ = true;
}

void Destination::wait_for_room(const std::atomic<bool>& interrupted) {
    for (;;) {
        pollfd waited{descriptor_, POLLOUT, 0};
        const int ready = ::poll(&waited, 1, slice_ms);
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail("cannot write", errno);
        if (interrupted.load(std::memory_order_relaxed)) throw Interrupted();
    }
}

long Destination::write_some(std::string_view text) noexcept {
    if (is_socket_) {
        return ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    // poll() reports room for at least a page.
    const std::size_t bytes =
        shared_flags_ ? std::min<std::size_t>(text.size(), PIPE_BUF) : text.size();
    return ::write(descriptor_, text.data(), bytes);
}

void Destination::write(std::string_view text, const std::atomic<bool>& interrupted) {
    if (text.empty()) return;
    if (!open_) fail("cannot write", EBADF);
    if (descriptor_ < 0) wait_for_reader(interrupted);
    const SigpipeHeldBack guard(waits_);
    while (!text.empty()) {
        if (shared_flags_) wait_for_room(interrupted);
        const ssize_t written = write_some(text);
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EAGAIN) {
            wait_for_room(interrupted);
        } else if (errno != EINTR) {
            fail("cannot write", errno);
        }
    }
}

void Destination::commit(const std::atomic<bool>& interrupted) {
    if (!open_) return;
    if (descriptor_ < 0) wait_for_reader(interrupted);
    if (whole_) whole_->commit();
    const int descriptor = std::exchange(descriptor_, -1);
    open_ = false;
    whole_.reset();
    if (owned_ && ::close(descriptor) != 0 && errno != EINTR) fail("cannot close", errno);
}

void Destination::discard() noexcept {
    whole_.reset();
    const int descriptor = std::exchange(descriptor_, -1);
    if (owned_ && descriptor >= 0) ::close(descriptor);
    open_ = false;
}

}  // namespace strid
