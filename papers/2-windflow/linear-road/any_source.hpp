// SPDX-License-Identifier: Apache-2.0
//
// Events that are read or made, as one type: what stands behind a source is compiled once. Which it
// is, is asked once a poll. Threads as in the source that it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <strid/operator/source.hpp>

#include "event_source.hpp"
#include "traffic.hpp"

namespace strid::apps::linear_road {

class AnySource {
  public:
    using record_type = Event;
    static constexpr SourceTraits traits{.hears = events<Opened, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::files |
                                                Has::fraction_done | Has::bytes_read |
                                                Has::replicas_used,
                                         .drains = true};

    explicit AnySource(EventSource source) : source_(std::move(source)) {}
    explicit AnySource(TrafficSource source) : source_(std::move(source)) {}

    void on(const Opened& opened) {
        std::visit([&](auto& source) { source.on(opened); }, source_);
    }
    [[nodiscard]] std::size_t replicas_used(std::size_t replicas) const noexcept {
        return std::visit([=](const auto& source) { return source.replicas_used(replicas); },
                          source_);
    }
    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        return std::visit([&](auto& source) { return source.poll(emit, budget); }, source_);
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept {
        return std::visit([](const auto& source) { return source.wake_at_ns(); }, source_);
    }
    [[nodiscard]] bool blocks() const noexcept {
        const auto* file = std::get_if<EventSource>(&source_);
        return file != nullptr && file->blocks();
    }
    void on(Stopped stopped) noexcept {
        std::visit([=](auto& source) { source.on(stopped); }, source_);
    }
    [[nodiscard]] std::vector<FileUse> files() const {
        const auto* file = std::get_if<EventSource>(&source_);
        return file == nullptr ? std::vector<FileUse>{} : file->files();
    }
    [[nodiscard]] double fraction_done() const noexcept {
        return std::visit([](const auto& source) { return source.fraction_done(); }, source_);
    }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        const auto* file = std::get_if<EventSource>(&source_);
        return file == nullptr ? 0 : file->bytes_read();
    }

    auto state() { return std::tie(source_); }

  private:
    std::variant<EventSource, TrafficSource> source_;
};

}  // namespace strid::apps::linear_road
