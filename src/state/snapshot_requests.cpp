// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <strid/base/error.hpp>
#include <strid/engine/base/thread_name.hpp>
#include <strid/engine/state/snapshot_requests.hpp>

#include "snapshot_file.hpp"

namespace strid {

namespace {

constexpr const char* socket_name = "requests";
constexpr int waiting_clients = 8;
constexpr std::size_t answer_bytes_max = 4096;

[[noreturn]] void fail(const std::string& path, const char* what) {
    throw InputOutputError(
        fmt::format("{}: {}: {}", path, what, std::generic_category().message(errno)));
}

// By the descriptor of the folder: its path may be longer than an address of a socket can be.
sockaddr_un address_in(int directory) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, socket_name);
    std::copy(path.begin(), path.end(), std::begin(address.sun_path));
    return address;
}

const sockaddr* generic(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

OwnedDescriptor made_socket(const std::string& path) {
    OwnedDescriptor made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (made.get() < 0) fail(path, "cannot make a socket");
    return made;
}

// The client may be gone.
void send_line(int client, std::string text) noexcept {
    std::replace(text.begin(), text.end(), '\n', ' ');
    text += '\n';
    std::string_view left = text;
    while (!left.empty()) {
        const auto sent = ::send(client, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return;
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
}

}  // namespace

SnapshotRequests::SnapshotRequests(int directory, const std::string& path, Answer answer)
    : answer_(std::move(answer)), directory_(directory), process_(::getpid()) {
    OwnedDescriptor listening = made_socket(path);
    ::unlinkat(directory, socket_name, 0);
    const auto address = address_in(directory);
    if (::bind(listening.get(), generic(address), sizeof address) != 0 ||
        ::listen(listening.get(), waiting_clients) != 0) {
        fail(path, "cannot listen to requests for snapshots");
    }
    OwnedDescriptor end(::eventfd(0, EFD_CLOEXEC));
    if (end.get() < 0) fail(path, "cannot listen to requests for snapshots");
    listening_ = listening.get();
    end_ = end.get();
    thread_ = std::thread([this] { answer_clients(); });
    (void)listening.release();
    (void)end.release();
}

SnapshotRequests::~SnapshotRequests() {
    if (::getpid() != process_) {
        thread_.detach();
        return;
    }
    const std::uint64_t one = 1;
    while (::write(end_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
    ::unlinkat(directory_, socket_name, 0);
    ::close(listening_);
    ::close(end_);
}

void SnapshotRequests::answer_clients() const noexcept {
    detail::name_this_thread("strid-requests");
    std::array<pollfd, 2> awaited{{{listening_, POLLIN, 0}, {end_, POLLIN, 0}}};
    for (;;) {
        if (::poll(awaited.data(), awaited.size(), -1) < 0 && errno != EINTR) return;
        if (awaited[1].revents != 0) return;
        if (awaited[0].revents == 0) continue;
        const OwnedDescriptor client(::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC));
        if (client.get() < 0) {  // no descriptors are left, or the client is gone
            ::poll(nullptr, 0, 100);
            continue;
        }
        std::string reason;
        try {
            reason = answer_();
        } catch (const std::exception& error) {
            reason = error.what();
        }
        send_line(client.get(), std::move(reason));
    }
}

std::optional<std::string> SnapshotRequests::ask(int directory, const std::string& path) {
    const OwnedDescriptor server = made_socket(path);
    const auto address = address_in(directory);
    if (::connect(server.get(), generic(address), sizeof address) != 0) {
        if (errno == ENOENT || errno == ECONNREFUSED) return std::nullopt;
        fail(path, "cannot ask the run for a snapshot");
    }
    std::string line;
    std::array<char, 256> buffer{};
    while (line.size() < answer_bytes_max) {
        const auto got = ::read(server.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail(path, "cannot read the answer of the run");
        if (got == 0) break;
        line.append(buffer.data(), static_cast<std::size_t>(got));
        if (line.ends_with('\n')) return line.substr(0, line.size() - 1);
    }
    return "the run has ended before it answered";
}

}  // namespace strid
