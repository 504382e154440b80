// SPDX-License-Identifier: Apache-2.0
#include "farm.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/topology.hpp>
#include <strid/pattern/pattern.hpp>

#include "dispatch.hpp"

namespace strid::ssa {

namespace {

namespace pattern = strid::pattern;

constexpr std::size_t runners_per_worker = 4;

/// A task of the loop. It has no runner only when the library makes an empty one.
struct Round {
    RunnerPointer runner;
    bool ended = false;
};

/// The shared state of the nodes. Each worker has statistics of its own; dispatch and progress are
/// the last node's.
struct Shared {
    const Kinetics& kinetics;
    const Plan& plan;
    const FarmJob& job;
    const tool::Interruption& interruption;
    tool::Progress& progress;
    Dispatch dispatch;
    std::vector<std::optional<Statistics>> statistics;

    [[nodiscard]] Statistics empty_statistics() const {
        return {plan.samples(), kinetics.reals(), job.runs, job.quantiles};
    }
};

/// The worker of the farm.
class Worker : public OperatorTypes<Round, Round> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "simulate", .emits = Emits::one, .hears = events<Opened>, .stateless = true};

    explicit Worker(Shared& shared) : shared_(&shared) {}

    void on(const Opened& opened) { own_ = &shared_->statistics[opened.context.replica]; }
    void process(Round& round, auto& emit) {
        shared_->interruption.check();
        if (!*own_) own_->emplace(shared_->empty_statistics());
        round.ended = round.runner->advance(Dispatch::slice_events, **own_);
        emit(std::move(round));
    }

  private:
    Shared* shared_;
    std::optional<Statistics>* own_ = nullptr;
};

std::size_t workers_of(const FarmJob& job) {
    if (job.workers.count != 0) return job.workers.count;
    return std::max<std::size_t>(current_affinity().size(), 1);
}

/// As many runners as are useful, with the first trajectories.
std::vector<Round> first_rounds(Shared& shared, std::size_t runners) {
    const bool keeps_text = static_cast<bool>(shared.job.write);
    std::vector<Round> rounds;
    for (std::size_t i = 0; i < runners; ++i) {
        auto runner = std::make_unique<Runner>(shared.kinetics, shared.plan, keeps_text);
        shared.dispatch.back(std::move(runner), true,
                             [&](RunnerPointer ready) { rounds.push_back({std::move(ready)}); });
    }
    return rounds;
}

}  // namespace

Statistics simulate(const Kinetics& kinetics, const Plan& plan, const FarmJob& job,
                    const tool::Interruption& interruption, tool::Progress& progress) {
    const std::size_t workers = workers_of(job);
    const std::size_t runners = std::min<std::uint64_t>(runners_per_worker * workers, job.runs);
    Shared shared{kinetics,
                  plan,
                  job,
                  interruption,
                  progress,
                  Dispatch(job.runs, runners, plan.samples() * kinetics.species(), job.write),
                  std::vector<std::optional<Statistics>>(workers)};
    // Before the run, since dispatch is the last node's from then on.
    std::vector<Round> first = first_rounds(shared, runners);
    const auto source = pattern::source<Round>([&first](auto& emit) {
        for (Round& round : first) emit(std::move(round));
        return false;
    });
    const auto dispatch = pattern::node<Round>([&shared](Round round, auto& emit) {
        shared.dispatch.back(std::move(round.runner), round.ended,
                             [&](RunnerPointer ready) { emit.again(Round{std::move(ready)}); });
        shared.progress.at(shared.dispatch.done());
    });
    const auto nothing = [](const Round& /*none*/) {};
    pattern::Options options = job.workers.of_pattern();
    options.execution.workers = workers;
    pattern::run(pattern::pipeline(source,
                                   pattern::iterate(pattern::pipeline(
                                       pattern::farm(Worker(shared), {.workers = workers}),
                                       pattern::named("dispatch", dispatch))),
                                   nothing),
                 options);
    shared.dispatch.rethrow_failure();
    Statistics all = shared.empty_statistics();
    for (const auto& one : shared.statistics) {
        if (one) all.merge(*one);
    }
    return all;
}

}  // namespace strid::ssa
