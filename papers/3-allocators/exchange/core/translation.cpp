// SPDX-License-Identifier: Apache-2.0
#include "core/translation.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include <strid/pattern/accelerator.hpp>

#include "fix/decoder.hpp"
#include "link/core_tags.hpp"

namespace strid::exchange {

/// Results that wait for the thread that polls.
template <class T>
class Mailbox {
  public:
    explicit Mailbox(const std::function<void()>& wake) : wake_(wake) {}

    void put(T result) {
        {
            const std::lock_guard lock{mutex_};
            results_.push_back(std::move(result));
        }
        wake_();
    }
    [[nodiscard]] std::vector<T> take() {
        const std::lock_guard lock{mutex_};
        return std::exchange(results_, {});
    }

  private:
    const std::function<void()>& wake_;
    std::mutex mutex_;
    std::vector<T> results_;  // guarded by mutex_
};

namespace {

/// Batches that are on their way in one direction, and results that were not taken.
constexpr std::size_t lane_batches = 16;

LinkFrames translate(const ClientFrames& batch) {
    LinkFrames output;
    output.link = batch.link;
    for (const ClientFrames::One& frame : batch.frames) to_link(frame, output);
    return output;
}

ClientOutput translate(const FramesOfLink& batch) {
    ClientOutput output;
    output.link = batch.link;
    for (const std::string& frame : batch.frames) to_client(frame, output);
    return output;
}

}  // namespace

void to_link(const ClientFrames::One& frame, LinkFrames& output) {
    if (frame.client == 0) {
        output.bytes += frame.bytes;
        return;
    }
    fix::Message message;
    std::optional<fix::FieldFault> fault;
    fix::Garbled garbled;
    if (fix::parse(frame.bytes, message, fault, garbled) == fix::Decoded::garbled) {
        output.garbled.push_back({frame.client, std::move(garbled.text)});
        return;
    }
    // Fields that a client sends under these tags must not be taken for the core's.
    for (const int tag : core_tags) message.erase(tag);
    if (message.is(connection_closed) || message.is(output_written)) message.set_type("?");
    message.set(CoreTag::connection, static_cast<std::int64_t>(frame.client));
    if (fault) {
        message.set(CoreTag::fault_reason, fault->reason).set(CoreTag::fault_tag, fault->tag);
        message.set(CoreTag::fault_text, fault->text);
    }
    message.encode_to(output.bytes);
}

void to_client(const std::string& frame, ClientOutput& output) {
    fix::Message message;
    std::optional<fix::FieldFault> fault;
    fix::Garbled garbled;
    if (fix::parse(frame, message, fault, garbled) == fix::Decoded::garbled) {
        output.error = garbled.text;
        return;
    }
    try {
        ClientOutput::One one{
            static_cast<std::uint64_t>(message.integer(CoreTag::connection)), {}, {}, {}};
        if (message.is(close_connection)) {
            one.reason = message.get_or(fix::Tag::text, "");
        } else if (message.is(output_written)) {
            one.mark = frame;
        } else {
            message.erase(CoreTag::connection);
            one.bytes = message.encode();
        }
        output.messages.push_back(std::move(one));
    } catch (const fix::FieldError& error) {
        output.error = error.what();
    }
}

struct Translation::Patterns {
    Patterns(std::size_t workers, std::function<void()> wake_up)
        : wake(std::move(wake_up)),
          incoming(pattern::accelerate<ClientFrames>(
              pattern::pipeline(
                  pattern::ordered_farm([](ClientFrames batch) { return translate(batch); },
                                        {.workers = workers}),
                  [this](LinkFrames frames) { link.put(std::move(frames)); }),
              options(workers))),
          outgoing(pattern::accelerate<FramesOfLink>(
              pattern::pipeline(
                  pattern::ordered_farm([](FramesOfLink batch) { return translate(batch); },
                                        {.workers = workers}),
                  [this](ClientOutput output) { clients.put(std::move(output)); }),
              options(workers))) {}

    static pattern::Options options(std::size_t workers) {
        return {.execution = {.workers = workers}, .lane_tasks = lane_batches};
    }

    std::function<void()> wake;
    Mailbox<LinkFrames> link{wake};
    Mailbox<ClientOutput> clients{wake};
    pattern::Accelerator<ClientFrames, pattern::Nothing> incoming;
    pattern::Accelerator<FramesOfLink, pattern::Nothing> outgoing;
};

Translation::Translation(std::size_t workers, std::function<void()> wake)
    : patterns_(std::make_unique<Patterns>(workers, std::move(wake))) {}

Translation::~Translation() = default;

bool Translation::give(ClientFrames& frames) {
    return patterns_->incoming.try_offload(frames);
}

bool Translation::give(FramesOfLink& frames) {
    return patterns_->outgoing.try_offload(frames);
}

std::vector<LinkFrames> Translation::take_link() {
    return patterns_->link.take();
}

std::vector<ClientOutput> Translation::take_clients() {
    return patterns_->clients.take();
}

}  // namespace strid::exchange
