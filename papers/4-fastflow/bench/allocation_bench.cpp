// SPDX-License-Identifier: Apache-2.0
//
// Figure 1.4 of paper 4: a farm whose emitter allocates each task and whose workers, after some
// work, free it. Each round is a line of JSON; the sum over the tasks' words is compared with that
// of a loop.
//
//   allocation_bench --allocator slab --workers 2 --grain-ns 1000
//   LD_PRELOAD=$LIBRARIES/libjemalloc.so.2 allocation_bench --allocator standard
//       --library libjemalloc.so.2
//
// `slab` is this project's allocator, with a return lane for each worker. `standard` is operator
// new; with --library the program fails unless a library of that name is mapped into the process
// and is where malloc and free come from.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include <strid/base/topology.hpp>
#include <strid/memory/slab_allocator.hpp>
#include <strid/pattern/pattern.hpp>

#include "bench/command_line.hpp"
#include "bench/preloaded.hpp"
#include "loads.hpp"

namespace {

using namespace strid;
using namespace strid::bench;
using namespace strid::pattern;

/// The paper's: 32 bytes, four numbers.
struct Task {
    std::array<std::uint64_t, 4> numbers;
};
static_assert(sizeof(Task) == 32);

/// The words of task n.
Task task_of(std::uint64_t n) {
    return {{n, n ^ 0x5555, n * 3, ~n}};
}
std::uint64_t worked(const Task& task, std::uint64_t steps) {
    std::uint64_t sum = 0;
    for (const std::uint64_t number : task.numbers) sum += number;
    return churn(sum, steps);
}

/// Allocates by the emitter, frees by the worker of that number.
class Standard {
  public:
    explicit Standard(std::size_t /*workers*/) {}
    Task* make(std::uint64_t n) { return ::new (::operator new(sizeof(Task))) Task(task_of(n)); }
    void free(Task* task, std::size_t /*worker*/) noexcept { ::operator delete(task); }
};
class Slab {
  public:
    explicit Slab(std::size_t workers) : slab_({.lanes = workers}) {}
    Task* make(std::uint64_t n) { return ::new (slab_.allocate(sizeof(Task))) Task(task_of(n)); }
    void free(Task* task, std::size_t worker) noexcept { slab_.deallocate(task, worker); }

  private:
    memory::SlabAllocator slab_;
};

/// Works on each task and frees it; its sum leaves at the end.
template <class Allocator>
class Worker : public OperatorTypes<Task*, std::uint64_t> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "worker", .emits = Emits::any_number, .hears = events<Opened, Ended>};

    Worker(Allocator& allocator, std::uint64_t steps) : allocator_(&allocator), steps_(steps) {}

    void on(const Opened& opened) { replica_ = opened.context.replica; }
    void process(Task*& task, auto& /*emit*/) {
        sum_ += worked(*task, steps_);
        allocator_->free(task, replica_);
    }
    void on(Ended, auto& emit) { emit(sum_); }
    auto state() { return std::tie(sum_); }

  private:
    Allocator* allocator_;
    std::uint64_t steps_;
    std::size_t replica_ = 0;
    std::uint64_t sum_ = 0;
};

struct Settings {
    std::string allocator = "slab";
    std::string library;
    std::size_t workers = 2;
    double grain_ns = 1'000;
    double steps_per_us = 0;  // 0: measured
    std::uint64_t tasks = 1'000'000;
    std::size_t rounds = 3;
};

/// One run; the workers have a thread each, and the emitter another, as far as there are
/// cores for them.
template <class Allocator>
Spent run_farm(const Settings& settings, std::uint64_t steps, std::uint64_t& sum) {
    Allocator allocator(settings.workers);
    const auto emitter = [&allocator, next = std::uint64_t{0},
                          count = settings.tasks]() mutable -> std::optional<Task*> {
        if (next == count) return std::nullopt;
        return allocator.make(next++);
    };
    Options options;
    const Topology topology = Topology::detect();
    options.execution.workers = std::min(settings.workers + 1, topology.cores().size());
    return spent_by([&] {
        run(pipeline(
                source(emitter),
                farm(Worker<Allocator>(allocator, steps), FarmOptions{.workers = settings.workers}),
                [&sum](std::uint64_t part) { sum += part; }),
            options);
    });
}

void measure(const Settings& settings) {
    const std::uint64_t steps = steps_of(settings.grain_ns, settings.steps_per_us);
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < settings.tasks; ++n) expected += worked(task_of(n), steps);
    for (std::size_t round = 0; round < settings.rounds; ++round) {
        std::uint64_t sum = 0;
        const Spent spent = settings.allocator == "slab" ? run_farm<Slab>(settings, steps, sum)
                                                         : run_farm<Standard>(settings, steps, sum);
        if (sum != expected) {
            throw std::runtime_error(
                fmt::format("wrong answer: the sum over the tasks is {}, not {}", sum, expected));
        }
        fmt::print(
            "{{\"allocator\": \"{}\", \"malloc_of\": \"{}\", \"workers\": {}, \"grain_ns\": {}, "
            "\"tasks\": {}, \"round\": {}, \"seconds\": {:.6f}, \"processor_seconds\": {:.6f}}}\n",
            settings.allocator, library_of(std::malloc), settings.workers, settings.grain_ns,
            settings.tasks, round, spent.seconds, spent.processor_seconds);
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) try {
    Settings settings;
    CommandLine({{"--allocator", text_into(settings.allocator)},
                 {"--library", text_into(settings.library)},
                 {"--workers", number_into(settings.workers)},
                 {"--grain-ns", number_into(settings.grain_ns)},
                 {"--steps-per-us", number_into(settings.steps_per_us)},
                 {"--tasks", number_into(settings.tasks)},
                 {"--rounds", number_into(settings.rounds)}})
        .read(argc, argv);
    if (settings.allocator != "slab" && settings.allocator != "standard") {
        throw std::invalid_argument("allocators are slab and standard, not " + settings.allocator);
    }
    if (settings.workers == 0 || settings.tasks == 0 || settings.rounds == 0 ||
        settings.grain_ns < 0 || settings.steps_per_us < 0) {
        throw std::invalid_argument("workers, tasks and rounds are at least one, times at least 0");
    }
    check_library(settings.library);
    if (settings.steps_per_us == 0) settings.steps_per_us = measure_steps_per_us();
    measure(settings);
    return 0;
} catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
}
