// SPDX-License-Identifier: Apache-2.0
//
// The stage behind a source that keeps step with others (message/alignment.hpp): it lets every
// record through, says how far the stream has come, and holds the source back while that is too far
// ahead. Others are asked again every millisecond.
//
// Threads: only the task of the node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/message/alignment.hpp>
#include <strid/message/watermark.hpp>
#include <strid/operator/context.hpp>

namespace strid::operators {

class AlignedStage {
  public:
    static constexpr bool selective = false;
    static constexpr bool passes_records = true;
    static constexpr bool asks_the_clock = true;

    explicit AlignedStage(Alignment alignment) : alignment_(std::move(alignment)) {}

    void open(const Context&) { member_ = alignment_.join(); }
    template <class Arrived, class Next>
    void operator()(Arrived& arrived, Next&& next) {
        next(arrived);
    }
    /// A stream that is idle holds nobody back, and is not held back.
    void heed(const Progress& progress) {
        const bool may_go_on =
            alignment_.may_go_on(member_, progress.idle ? EventTime::latest() : progress.watermark);
        held_back_ = !may_go_on && !progress.idle;
    }
    [[nodiscard]] bool held_back() const noexcept { return held_back_; }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        constexpr std::int64_t ask_again_ns = 1'000'000;
        return held_back_ ? now_ns() + ask_again_ns : 0;
    }
    void close() { (void)alignment_.may_go_on(member_, EventTime::latest()); }

  private:
    Alignment alignment_;
    std::size_t member_ = 0;
    bool held_back_ = false;
};

}  // namespace strid::operators
