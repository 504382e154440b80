// SPDX-License-Identifier: Apache-2.0
//
// A run of a node: one batch or one poll, with the time, the end and the waiting around it. The
// kernel's part is what works on records (engine/kernel/kernel.hpp); here is what does not know
// their type, compiled once for all kernels.
#include <algorithm>
#include <utility>

#include <strid/base/clock.hpp>
#include <strid/engine/kernel/node.hpp>
#include <strid/engine/message/batch.hpp>

namespace strid::operators {

RunResult Node::run(std::int64_t& clock_ns) {
    if (ended_ && !advancing_) return finish(clock_ns);
    if (traits_.polls && cut_ != nullptr && !advancing_ && !is_cutting_) [[unlikely]] {
        const SnapshotCut::Wanted wanted = cut_->wanted();
        if (wanted.number != snapshots_) {
            begin_snapshot(wanted.number);
        } else if (wanted.is_last) {
            return wait_for_input(clock_ns);
        }
    }
    if (is_cutting_) [[unlikely]] {
        if (end_snapshot()) return RunResult::progressed;
        refusals_.add(1);
        return wait_for_room(clock_ns);
    }
    if (!has_room() && !(output_ != nullptr && output_->refresh())) {
        refusals_.add(1);
        return wait_for_room(clock_ns);
    }
    if (advancing_ || (traits_.may_hold_back && is_held_back(stop_requested()))) {
        return run_time(clock_ns);
    }
    return traits_.polls ? run_source(clock_ns) : run_batch(clock_ns);
}

RunResult Node::run_source(std::int64_t& clock_ns) {
    const std::int64_t start_ns = clock_ns;
    waits_.end(start_ns);
    split_.poll(start_ns);
    if (output_ != nullptr) {
        output_->begin_run(start_ns);
        output_->begin_input(start_ns);
    }
    Poll polled{.ingress_ns = start_ns};
    if (traits_.drains || !stop_requested()) {
        split_.enter_operators();
        polled = poll(start_ns,
                      output_ != nullptr ? budget_.records(output_->room()) : budget_.records());
    }
    if (hears(StageEvent::batch_ends)) notify(StageEvent::batch_ends);
    split_.leave_operators();
    if (polled.status == SourceStatus::finished) ended_ = true;
    if (polled.status == SourceStatus::idle) silent_until_ns_ = start_ns;
    advance(start_ns);
    const bool goes_on = polled.status == SourceStatus::more;
    if (!goes_on) notify_operators(StageEvent::flush);
    const bool published = publish(!goes_on);
    if (polled.emitted == 0) split_.drop(output_.get());
    const bool waits = polled.status == SourceStatus::idle || polled.status == SourceStatus::held;
    if (polled.emitted == 0 && waits && published && !advancing_) return wait_for_input(clock_ns);
    const std::int64_t from_ns = poll_worked_from(start_ns, polled.ingress_ns);
    end_run(clock_ns = from_ns, polled.ingress_ns, polled.emitted, !advancing_);
    budget_.ran(polled.emitted, output_ != nullptr ? polled.left : 0, clock_ns - from_ns);
    return RunResult::progressed;
}

// ---- batches ------------------------------------------------------------------------------------

RunResult Node::run_batch(std::int64_t& clock_ns) {
    if (batch_ == nullptr) {
        const auto [batch, link] = receive();
        if (batch == nullptr) return run_without_input(clock_ns);
        if (message::header_of(*batch).is_barrier) [[unlikely]] {
            input_.hold(*link, message::header_of(*batch));
            link->give_back(*batch);
            return RunResult::progressed;
        }
        batch_ = batch;
        link_ = link;
        position_ = 0;
        idle_published_ = false;
        split_.take(*batch);
        begin_batch();
    } else {
        split_.go_on();
    }
    const std::int64_t start_ns = clock_ns;
    waits_.end(start_ns);
    if (output_ != nullptr) output_->begin_run(start_ns);
    auto& header = message::header_of(*batch_);
    const std::int64_t ingress_ns = header.ingress_ns;
    const std::uint32_t first = position_;
    split_.enter_operators();
    pass_batch(header);
    split_.leave_operators();
    const std::uint64_t handled = position_ - first;
    if (position_ == header.count) {
        end_batch();
        advance(start_ns);
    }
    const bool idle = batch_ == nullptr && !input_.waiting();
    if (idle) notify_operators(StageEvent::flush);
    idle_published_ = publish(idle) && idle;
    end_run(clock_ns, ingress_ns, handled, batch_ == nullptr && !advancing_);
    link_->worked(clock_ns - start_ns, handled);
    return RunResult::progressed;
}

RunResult Node::run_without_input(std::int64_t& clock_ns) {
    if (traits_.asks || input_.progress() != progress_) {
        advance(clock_ns);
        idle_published_ = false;
    }
    if (input_.is_cut() && !advancing_) [[unlikely]] {
        begin_snapshot(snapshots_ + 1);
        idle_published_ = false;
        return RunResult::progressed;
    }
    if (input_.exhausted()) {
        ended_ = true;
        if (!advancing_) return finish(clock_ns);
    }
    if (!idle_published_) {
        if (hears(StageEvent::flush)) notify(StageEvent::flush);
        idle_published_ = publish(true);
        if (!idle_published_ || advancing_) return RunResult::progressed;
    }
    return wait_for_input(clock_ns);
}

InputPort::Received Node::receive() {
    const InputPort::Received received = input_.receive();
    if (received.batch != nullptr) {
        queued_.add(std::min(received.link->queued(), received.link->share()));
        queued_max_.add(received.link->share());
    }
    return received;
}

// Emitted records keep the texts alive to which they may refer: those of the batch, and those of
// the stages.
void Node::begin_batch() {
    const message::BatchHeader& header = message::header_of(*batch_);
    if (hears(StageEvent::batch_begins)) notify(StageEvent::batch_begins);
    if (output_ != nullptr) {
        if (header.below_watermark) output_->assert_progress_again();
        output_->begin_input(header.ingress_ns);
        if (traits_.forgets_input) {
            output_->forget_texts();
        } else {
            output_->keep_alive(header);
        }
    }
    if (hears(StageEvent::keep_texts)) notify(StageEvent::keep_texts);
    if (output_ != nullptr && keeps_sequences_) output_->begin_sequence(header.sequence);
}

// Until the next batch, emitted records refer only to texts of the stages. Otherwise a node without
// input would hold on to its last batch's texts.
void Node::end_batch() {
    notify_operators(StageEvent::batch_ends);
    const message::BatchHeader& header = message::header_of(*batch_);
    if (output_ != nullptr) {
        if (keeps_sequences_ && header.ends_sequence) output_->end_sequence();
        output_->forget_texts();
        if (hears(StageEvent::keep_texts)) notify(StageEvent::keep_texts);
    }
    input_.handled(*link_, header);
    link_->give_back(*std::exchange(batch_, nullptr));
}

void Node::notify_operators(StageEvent event) {
    if (!hears(event)) return;
    split_.enter_operators();
    notify(event);
    split_.leave_operators();
}

// ---- time, and the end --------------------------------------------------------------------------

void Node::advance(std::int64_t now_ns) {
    const Progress progress = traits_.polls ? source_progress_ : input_.progress();
    if (!traits_.asks && !advancing_ && progress == progress_) return;
    progress_ = progress;
    split_.enter_operators();
    advancing_ = !advance_stages({now_ns, traits_.polls ? silent_until_ns_ : now_ns});
    split_.leave_operators();
}

RunResult Node::run_time(std::int64_t& clock_ns) {
    waits_.end(clock_ns);
    split_.go_on();
    const bool in_sample = split_.on() && batch_ == nullptr;
    if (output_ != nullptr) output_->begin_run(clock_ns);
    advance(clock_ns);
    idle_published_ = publish(true);
    // A sampled batch that has ended is reported before the node waits.
    if (!in_sample && idle_published_ && !advancing_ && traits_.may_hold_back &&
        is_held_back(false)) {
        return wait_for_input(clock_ns);
    }
    end_run(clock_ns, message::no_ingress, 0, batch_ == nullptr && !advancing_);
    return RunResult::progressed;
}

RunResult Node::finish(std::int64_t clock_ns) {
    if (closed_) return RunResult::finished;
    if (is_saving()) return wait_for_input(clock_ns);  // for the last slice
    waits_.end(clock_ns);
    const auto [done, emitted] =
        restored_as_ended_ ? Finish{.done = true, .emitted = false} : finish_stages({clock_ns});
    if (!done) {
        const bool had_room = has_room();
        (void)publish(true);
        if (emitted) return RunResult::progressed;
        if (traits_.works_apart && had_room) return wait_for_input(clock_ns);  // for its results
        return wait_for_room(clock_ns);
    }
    if (!std::exchange(stages_closed_, true)) notify_closed();
    if (output_ != nullptr && !output_->close()) {
        return wait_for_room(clock_ns);  // a ring is full: others run
    }
    closed_ = true;
    if (cut_ != nullptr) cut_->ended(place_);
    return RunResult::finished;
}

RunResult Node::wait_for_input(std::int64_t clock_ns) noexcept {
    waits_.begin(WaitClock::For::input, clock_ns);
    return RunResult::empty;
}

RunResult Node::wait_for_room(std::int64_t clock_ns) noexcept {
    waits_.begin(WaitClock::For::room, clock_ns);
    return RunResult::refused;
}

std::int64_t Node::poll_worked_from(std::int64_t start_ns, std::int64_t ingress_ns) noexcept {
    if (ingress_ns <= start_ns) [[likely]]
        return start_ns;
    waits_.begin(WaitClock::For::input, start_ns);
    const std::int64_t from_ns = std::min(ingress_ns, now_ns());
    waits_.end(from_ns);
    return from_ns;
}

void Node::end_run(std::int64_t& clock_ns, std::int64_t ingress_ns, std::uint64_t records,
                   bool done) noexcept {
    const std::int64_t end_ns = now_ns();
    busy_ns_.add(static_cast<std::uint64_t>(end_ns - clock_ns));
    batches_.add(1);
    split_.end_run(end_ns, ingress_ns, records, done, output_.get());
    if (records != 0 && ingress_ns != message::no_ingress) {
        latency_.record(end_ns - ingress_ns, records);
    }
    clock_ns = end_ns;
}

}  // namespace strid::operators
