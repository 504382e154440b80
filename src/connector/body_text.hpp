// SPDX-License-Identifier: Apache-2.0
//
// The text of one body while it is received: decompressed, and within the limits of the server.
// Owns its room in the queue until take(). Private to the connector room. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "body_queue.hpp"

namespace strid::detail {

class BodyText {
  public:
    BodyText(BodyQueue& queue, std::size_t bytes_max, bool is_gzip);
    ~BodyText();
    BodyText(const BodyText&) = delete;
    BodyText& operator=(const BodyText&) = delete;

    /// Adds what came. Returns 0, or the status of the fault: 400 for a text that is no gzip, 413
    /// for one that is too long, 429 where the queue has no room.
    [[nodiscard]] int add(std::string_view piece);
    /// The body has ended: adds a last newline. Returns as add(); 400 also where it is no text.
    [[nodiscard]] int finish();
    /// The lines, for the queue.
    [[nodiscard]] std::string take();
    /// Forgets what came, and gives its room back.
    void drop();

  private:
    class Inflater;

    [[nodiscard]] int append(std::string_view text);

    BodyQueue& queue_;
    const std::size_t bytes_max_;
    std::unique_ptr<Inflater> inflater_;  // null: it is not compressed
    std::string text_;
};

}  // namespace strid::detail
