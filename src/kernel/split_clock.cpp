// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <strid/base/clock.hpp>
#include <strid/engine/base/assert.hpp>
#include <strid/engine/kernel/output_port.hpp>
#include <strid/engine/kernel/split_clock.hpp>

namespace strid::operators {

namespace {

constexpr message::BatchSample unknown_sample{0, message::BatchSample::unknown,
                                              message::BatchSample::unknown};

/// The rest is waiting. A poll may have worked before its oldest record entered, and two threads'
/// clocks may differ by some nanoseconds: times beyond `elapsed_ns` are cut, so that the three
/// always add up to it.
SplitClock::Times split(std::int64_t elapsed_ns, std::int64_t user_ns, std::int64_t engine_ns) {
    engine_ns = std::min(engine_ns, elapsed_ns);
    user_ns = std::min(user_ns, elapsed_ns - engine_ns);
    return {user_ns, engine_ns, elapsed_ns - user_ns - engine_ns};
}

}  // namespace

void SplitClock::Totals::add(std::uint64_t records_of_batch, const Times& times) noexcept {
    const auto weight = static_cast<double>(records_of_batch);
    batches.add(1);
    records.add(records_of_batch);
    user_ns.add(static_cast<std::uint64_t>(times.user_ns));
    engine_ns.add(static_cast<std::uint64_t>(times.engine_ns));
    waiting_ns.add(static_cast<std::uint64_t>(times.waiting_ns));
    user_of_records_ns.add(weight * static_cast<double>(times.user_ns));
    engine_of_records_ns.add(weight * static_cast<double>(times.engine_ns));
    waiting_of_records_ns.add(weight * static_cast<double>(times.waiting_ns));
}

void SplitClock::begin(memory::Block& batch) noexcept {
    before_ = message::sample_of(batch);
    begin();
}

void SplitClock::begin_poll() noexcept {
    before_ = {.sent_ns = 0, .user_ns = 0, .engine_ns = 0};
    begin();
}

void SplitClock::begin() noexcept {
    STRID_PARANOID(!on_);
    ingress_ns_ = message::no_ingress;
    user_ns_ = engine_ns_ = 0;
    records_ = 0;
    on_ = true;
    resume();
}

void SplitClock::resume() noexcept {
    in_operators_ = false;
    since_ns_ = now_ns();
}

void SplitClock::turn(bool to_operators) noexcept {
    add_until(now_ns());
    in_operators_ = to_operators;
}

void SplitClock::add_until(std::int64_t now_ns) noexcept {
    (in_operators_ ? user_ns_ : engine_ns_) += std::max(now_ns - since_ns_, std::int64_t{0});
    since_ns_ = now_ns;
}

message::BatchSample SplitClock::so_far(std::int64_t now_ns) const noexcept {
    if (before_.user_ns < 0) return unknown_sample;
    const auto since = static_cast<float>(std::max(now_ns - since_ns_, std::int64_t{0}));
    return {.sent_ns = 0,
            .user_ns = before_.user_ns + static_cast<float>(user_ns_) + (in_operators_ ? since : 0),
            .engine_ns =
                before_.engine_ns + static_cast<float>(engine_ns_) + (in_operators_ ? 0 : since)};
}

void SplitClock::end(std::int64_t end_ns, std::int64_t ingress_ns, std::uint64_t records, bool done,
                     OutputPort* output) noexcept {
    add_until(end_ns);
    in_operators_ = false;
    records_ += records;
    ingress_ns_ = std::min(ingress_ns_, ingress_ns);
    if (!done) return;
    on_ = false;
    const std::int64_t from_ns = before_.sent_ns != 0 ? before_.sent_ns : ingress_ns_;
    // Batches without records only mark the ends of sequences.
    if (records_ != 0)
        totals_.add(records_, split(end_ns - std::min(from_ns, end_ns), user_ns_, engine_ns_));
    const message::BatchSample whole = so_far(end_ns);
    if (output != nullptr) {
        output->settle_samples(whole);
    } else if (records_ != 0 && whole.user_ns >= 0 && ingress_ns_ != message::no_ingress) {
        path_.add(records_, split(end_ns - std::min(ingress_ns_, end_ns),
                                  static_cast<std::int64_t>(whole.user_ns),
                                  static_cast<std::int64_t>(whole.engine_ns)));
    }
}

void SplitClock::end_without(OutputPort* output) noexcept {
    if (output != nullptr) output->settle_samples(unknown_sample);
    choice_.next_instead();
    on_ = false;
}

}  // namespace strid::operators
