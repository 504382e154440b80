// SPDX-License-Identifier: Apache-2.0
//
// An operator that stands behind a `key_by`, for a place of the paper's graph that no key leads to:
// it has one replica, which has all keys. `Out` may be a variant that what it emits is part of.
//
// Threads: only the task of the node.
#pragma once

#include <cstdint>
#include <utility>

#include <strid/engine/operator/per_record.hpp>
#include <strid/engine/operator/state_size.hpp>
#include <strid/operator/contract.hpp>

namespace strid::apps {

template <class Keyed, class Out = typename Keyed::Emitted>
class InOneReplica : public OperatorTypes<operators::RecordOf<typename Keyed::Arrived>, Out> {
    using Record = operators::RecordOf<typename Keyed::Arrived>;

  public:
    static constexpr OperatorTraits traits{
        .kind = "flat_map",
        .emits = Keyed::traits.emits,
        .hears = Keyed::traits.hears.template among<Opened, Watermark, Ended, Closed>(),
        .needs_watermarks = Keyed::traits.needs_watermarks,
        .forgets_input = Keyed::traits.forgets_input,
        .one_replica = true};

    explicit InOneReplica(Keyed keyed = {}) : keyed_(std::move(keyed)) {}

    void on(const Opened& opened)
        requires operators::Hears<Keyed, Opened>
    {
        keyed_.on(opened);
    }
    /// Keyed operators that are used here take no hash: they look into tables of their own.
    void process(Record& record, auto& emit) {
        typename Keyed::Arrived arrived{std::move(record), 0};
        auto emit_out = as_out(emit);
        keyed_.process(arrived, emit_out);
    }
    bool on(Watermark watermark, auto& emit)
        requires operators::Hears<Keyed, Watermark>
    {
        auto emit_out = as_out(emit);
        return keyed_.on(watermark, emit_out);
    }
    bool on(Ended ended, auto& emit)
        requires operators::Hears<Keyed, Ended>
    {
        auto emit_out = as_out(emit);
        return keyed_.on(ended, emit_out);
    }
    void on(Closed closed)
        requires operators::Hears<Keyed, Closed>
    {
        keyed_.on(closed);
    }
    auto state() { return operators::state_of(keyed_); }

  private:
    template <class Emit>
    struct AsOut {
        Emit& emit;

        void operator()(typename Keyed::Emitted record) { emit(Out{std::move(record)}); }
        [[nodiscard]] bool room() const noexcept { return emit.room(); }
    };
    template <class Emit>
    static AsOut<Emit> as_out(Emit& emit) noexcept {
        return {emit};
    }

    Keyed keyed_;
};

}  // namespace strid::apps
