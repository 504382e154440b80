// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <strid/engine/connector/range_tasks.hpp>
#include <strid/runtime/task.hpp>

namespace strid {

namespace {

std::vector<std::unique_ptr<ParsedRange>> make_all(std::size_t count,
                                                   const RangeTasks::MakePlace& make) {
    std::vector<std::unique_ptr<ParsedRange>> all;
    for (std::size_t i = 0; i != count; ++i) all.push_back(make());
    return all;
}

std::vector<ParsedRange*> addresses(const std::vector<std::unique_ptr<ParsedRange>>& places) {
    std::vector<ParsedRange*> all;
    for (const auto& place : places) all.push_back(place.get());
    return all;
}

}  // namespace

class RangeTasks::Parser final : public runtime::Task {
  public:
    Parser(std::string name, RangeTasks& work, std::unique_ptr<Copy> copy)
        : Task(std::move(name)), work_(&work), copy_(std::move(copy)) {}

    runtime::StepResult step(std::int64_t& /*clock_ns*/) override {
        using enum runtime::StepResult;
        if (work_->queue_.is_closed()) return finished;
        ParsedRange* const range = work_->queue_.claim();
        if (range == nullptr) {
            copy_->rest();
            return waiting;
        }
        if (made_of_ != work_->patterns_) {
            copy_->renew();
            made_of_ = work_->patterns_;
        }
        copy_->parse(*range);
        work_->queue_.parsed(*range);
        return progressed;
    }

  private:
    RangeTasks* work_;
    std::unique_ptr<Copy> copy_;
    std::uint64_t made_of_ = 0;
};

RangeTasks::RangeTasks(const TasksWanted& wanted, std::size_t ranges, const MakePlace& make_place,
                       const MakeCopy& make_copy)
    : places_(make_all(ranges, make_place)), queue_(addresses(places_), wanted.task) {
    const std::size_t tasks = std::min(std::max<std::size_t>(wanted.workers, 2), ranges);
    for (std::size_t i = 1; i <= tasks; ++i) {
        auto& parser = parsers_.emplace_back(std::make_unique<Parser>(
            fmt::format("{}: ranges {}", wanted.context.name, i), *this, make_copy()));
        queue_.add_task(*parser);
        wanted.tasks.push_back(parser.get());
    }
}

RangeTasks::~RangeTasks() = default;

}  // namespace strid
