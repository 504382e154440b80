// SPDX-License-Identifier: Apache-2.0
//
// A source of quotes: a file of NASDAQ TotalView-ITCH 5.0, each message behind its length in two
// bytes; compressed or not, a pipe, a socket or standard input. A message of no bytes is the end of
// the session. A message that is refused, an end inside a message, and what stands behind the end
// of the session follow the policy for malformed lines; its number stands for that of the line.
//
// Threads: as FileSource (engine/connector/file_source.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <strid/connector/byte_reader.hpp>
#include <strid/connector/pace.hpp>
#include <strid/engine/connector/malformed_handler.hpp>
#include <strid/operator/source.hpp>

#include "itch_feed.hpp"

namespace strid::apps::trading {

class ItchSource {
  public:
    using record_type = Quote;
    static constexpr SourceTraits traits{.hears = events<Opened, Restored, SnapshotBegins, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::files |
                                                Has::fraction_done | Has::bytes_read |
                                                Has::replicas_used,
                                         .drains = true};

    ItchSource(std::string path, MalformedOptions malformed, std::shared_ptr<Market> market);
    /// Reads from the beginning.
    ItchSource(const ItchSource& other);
    ItchSource& operator=(const ItchSource&) = delete;
    ~ItchSource() = default;

    /// Throws InputOutputError.
    void on(const Opened& opened);
    /// Reads from the beginning, and emits and reports nothing before the place of the state.
    /// Throws InputOutputError for an input that cannot be read once more.
    void on(Restored);
    void on(SnapshotBegins snapshot) {
        if (handler_) handler_->begin_snapshot(snapshot.number);
    }
    /// After it no more is read, but what waits in a pipe or a socket. Any thread.
    void on(Stopped) noexcept { is_stopped_.store(true, std::memory_order_relaxed); }
    [[nodiscard]] static std::size_t replicas_used(std::size_t /*replicas*/) noexcept { return 1; }

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        const SourceStatus status = emit_quotes(emit, budget);
        if (handler_) {
            if (const auto refused = handler_->take_count()) emit.count_malformed(refused);
        }
        return status;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    [[nodiscard]] bool blocks() const noexcept { return input_may_block(path_); }
    [[nodiscard]] std::vector<FileUse> files() const;
    [[nodiscard]] double fraction_done() const noexcept { return fraction_done_.load(); }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        return bytes_read_.load(std::memory_order_relaxed);
    }
    auto state() { return std::tie(place_); }

  private:
    enum class [[nodiscard]] Next : std::uint8_t { quote, nothing, waiting, end };

    template <class Emit>
    SourceStatus emit_quotes(Emit& emit, std::size_t budget) {
        Quote quote;
        for (; budget > 0; --budget) {
            switch (next(quote)) {
                case Next::quote:
                    if (arrived_ns_ != 0) emit.ingress_at(std::exchange(arrived_ns_, 0));
                    if (!emit(std::move(quote))) return SourceStatus::more;
                    break;
                case Next::nothing:
                    break;
                case Next::waiting:
                    return SourceStatus::idle;
                case Next::end:
                    return SourceStatus::finished;
            }
        }
        return SourceStatus::more;
    }
    /// Passes a message.
    Next next(Quote& quote);
    void count_message() noexcept { place_ = std::max(++messages_, pass_to_); }
    Next refill();
    Next end_input();
    void refuse(std::string_view reason, std::string_view bytes);

    std::string path_;
    MalformedOptions malformed_;
    std::shared_ptr<Market> market_;
    ItchFeed feed_;
    std::unique_ptr<ByteReader> reader_;  // null: there is nothing to read
    std::unique_ptr<MalformedHandler> handler_;
    std::vector<char> buffer_;
    std::string_view rest_;       // of the buffer
    std::uint64_t messages_ = 0;  // before the rest
    std::uint64_t pass_to_ = 0;   // so many are those of a source before this one
    std::uint64_t place_ = 0;     // the greater one: while messages are passed, a snapshot has that
    std::uint64_t offset_ = 0;    // of the rest in the input
    std::string fault_;
    bool has_waited_ = false;   // the next read may wait
    bool is_draining_ = false;  // only what waited at a stop is still read
    bool is_session_over_ = false;
    std::int64_t arrived_ns_ = 0;
    std::int64_t wake_at_ns_ = 0;
    SharedFraction fraction_done_;
    std::atomic<std::uint64_t> bytes_read_{0};
    // Relaxed: a poll that does not see it yet is followed by another.
    std::atomic<bool> is_stopped_{false};
};

}  // namespace strid::apps::trading
