// SPDX-License-Identifier: Apache-2.0
//
// One of several sources of the same record as one type: what stands behind a source is compiled
// once. Which it is, is asked once a poll. Threads as in the source that it holds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <strid/operator/source.hpp>

namespace strid::apps {

/// Each of them may be stopped and has wake_at_ns(), fraction_done() and replicas_used(); blocks(),
/// files() and bytes_read() are asked for where a source has them.
template <class First, class... Others>
class AnySource {
    template <class Source>
    static constexpr bool is_one =
        std::same_as<Source, First> || (std::same_as<Source, Others> || ...);

  public:
    using record_type = typename First::record_type;
    static constexpr SourceTraits traits{.hears = events<Opened, Restored, SnapshotBegins, Stopped>,
                                         .has = Has::wake_at_ns | Has::blocks | Has::files |
                                                Has::fraction_done | Has::bytes_read |
                                                Has::replicas_used,
                                         .drains = true};

    template <class Source>
        requires is_one<Source>
    explicit AnySource(Source source) : source_(std::move(source)) {}

    void on(const Opened& opened) {
        std::visit([&](auto& source) { source.on(opened); }, source_);
    }
    void on(Restored restored) {
        std::visit([=](auto& source) { operators::notify_source(source, restored); }, source_);
    }
    void on(SnapshotBegins snapshot) {
        std::visit([=](auto& source) { operators::notify_source(source, snapshot); }, source_);
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
        return std::visit(
            [](const auto& source) {
                if constexpr (requires { source.blocks(); }) return source.blocks();
                return false;
            },
            source_);
    }
    void on(Stopped stopped) noexcept {
        std::visit([=](auto& source) { source.on(stopped); }, source_);
    }
    [[nodiscard]] std::vector<FileUse> files() const {
        return std::visit(
            [](const auto& source) {
                if constexpr (requires { source.files(); }) return source.files();
                return std::vector<FileUse>{};
            },
            source_);
    }
    [[nodiscard]] double fraction_done() const noexcept {
        return std::visit([](const auto& source) { return source.fraction_done(); }, source_);
    }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        return std::visit(
            [](const auto& source) -> std::uint64_t {
                if constexpr (requires { source.bytes_read(); }) return source.bytes_read();
                return 0;
            },
            source_);
    }

    auto state() { return std::tie(source_); }

  private:
    std::variant<First, Others...> source_;
};

}  // namespace strid::apps
