// SPDX-License-Identifier: Apache-2.0
//
// Other processes of the user ask a run for a snapshot: by a socket in the folder of its snapshots,
// which this user alone may enter. A client connects and waits for one line: an empty one, or why
// there is no snapshot.
//
// Threads: one of its own answers, one client after the other. The functions that make and destroy
// it are called by one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <sys/types.h>

namespace strid {

class SnapshotRequests {
  public:
    /// Takes a snapshot, and returns an empty text when it is stored, or the reason why it is not.
    using Answer = std::function<std::string()>;

    /// Listens until it is destroyed. The process has the lock of the folder: what a killed one has
    /// left is removed. Throws InputOutputError, as where the file system has no sockets.
    SnapshotRequests(int directory, const std::string& path, Answer answer);
    SnapshotRequests(const SnapshotRequests&) = delete;
    SnapshotRequests& operator=(const SnapshotRequests&) = delete;
    /// Waits for an answer that is being made. In a process that was forked it does nothing.
    ~SnapshotRequests();

    /// As a client: waits for the answer of the run, as above; nothing if no run listens. Throws
    /// InputOutputError.
    [[nodiscard]] static std::optional<std::string> ask(int directory, const std::string& path);

  private:
    void answer_clients() const noexcept;

    Answer answer_;
    int directory_;
    int listening_ = -1;
    int end_ = -1;  // an event that ends the thread
    pid_t process_;
    std::thread thread_;
};

}  // namespace strid
