// SPDX-License-Identifier: Apache-2.0
//
// The work of the core on messages, which an accelerator does beside the thread that polls: sums
// are checked, fields read and written. Frames of clients become frames of the link to the session
// manager, those of the link become frames for clients. Order is kept.
//
// Threads: one gives and takes, those of the patterns work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace strid::exchange {

/// Frames of several clients, in the order in which they came. Batches carry the number of the link
/// that they are for or from: one that is over has none of them any more.
struct ClientFrames {
    struct One {
        std::uint64_t client;  ///< 0: the core itself, whose frames need no translation
        std::string bytes;
    };
    std::vector<One> frames = {};
    std::uint64_t link = 0;
};

struct FramesOfLink {
    std::vector<std::string> frames = {};
    std::uint64_t link = 0;
};

/// The output to the session manager.
struct LinkFrames {
    struct Garbled {
        std::uint64_t client;
        std::string text;
    };
    std::string bytes = {};
    std::vector<Garbled> garbled = {};
    std::uint64_t link = 0;
};

/// The output to clients; an empty text without a mark closes the client, `reason` says why.
struct ClientOutput {
    struct One {
        std::uint64_t client;
        std::string bytes;
        std::string reason;
        std::string mark;  ///< a frame for the link, when what is before it is written
    };
    std::vector<One> messages = {};
    std::string error = {};  ///< the link is wrong
    std::uint64_t link = 0;
};

/// A frame of a client as one of the link.
void to_link(const ClientFrames::One& frame, LinkFrames& output);
/// A frame of the link as one for its client.
void to_client(const std::string& frame, ClientOutput& output);

class Translation {
  public:
    /// `wake` is called by other threads when there is something to take.
    Translation(std::size_t workers, std::function<void()> wake);
    ~Translation();

    /// Does not wait: false where there is no room, and `frames` is as it was; wake() is called
    /// when there is some.
    [[nodiscard]] bool give(ClientFrames& frames);
    [[nodiscard]] bool give(FramesOfLink& frames);
    /// All that is there now.
    [[nodiscard]] std::vector<LinkFrames> take_link();
    [[nodiscard]] std::vector<ClientOutput> take_clients();

  private:
    struct Patterns;
    std::unique_ptr<Patterns> patterns_;
};

}  // namespace strid::exchange
