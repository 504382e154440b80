// SPDX-License-Identifier: Apache-2.0
//
// Snapshots of large state by key in a running graph:
//
// - the longest pause: records come at a steady rate, each with the time at which it is due, and
//   the sink measures how long after that it has the result; with snapshots and without;
// - the slices: the processor time of each, without a graph, while batches of 100 updates come
//   between them, which neighbours on the machine do not disturb;
// - the cost: the processor time of all threads at a higher rate, with snapshots and without; the
//   records come in bursts, 50 in a second, so that a thread without work sleeps and does not spin;
// - the restart: how long after its start a run that goes on has its first result.
//
// A record is an update of a random key, and the result is the number of updates of that key: the
// sum of all results is compared with a plain computation.
//
//   snapshot_bench --folder state --keys 10000000 --rate 10000 --seconds 10 --every 2
//                  --cost-keys 1000000 --cost-rate 1000000 --cost-seconds 10 --cost-every 1
//
// The folder must be on a disk: it is made, and removed at the end. 0 seconds leave a part out.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <time.h>

#include <strid/base/clock.hpp>
#include <strid/base/hash.hpp>
#include <strid/base/histogram.hpp>
#include <strid/engine/operator/keyed_codec.hpp>
#include <strid/state/bytes.hpp>
#include <strid/stream/graph.hpp>

#include "../bar.hpp"
#include "../command_line.hpp"
#include "../statistics.hpp"

namespace {

using namespace strid;
using namespace strid::bench;

struct Settings {
    std::string folder = "snapshot_bench_state";
    std::uint64_t keys = 10'000'000;
    std::uint64_t rate = 10'000;
    std::uint64_t seconds = 10;
    std::uint64_t every = 2;
    std::uint64_t cost_keys = 1'000'000;
    std::uint64_t cost_rate = 1'000'000;
    std::uint64_t cost_seconds = 10;
    std::uint64_t cost_every = 1;
};

struct Update {
    std::uint64_t key;
    std::int64_t due_ns;  // 0: the table is being filled
};
struct Result {
    std::uint64_t updates;
    std::int64_t due_ns;
};

/// The keys once at full speed, then random ones at a rate.
struct Load {
    std::uint64_t keys;
    std::uint64_t rate;
    std::uint64_t updates;
    std::uint64_t burst = 1;  // so many are due at once
    [[nodiscard]] std::uint64_t key_of(std::uint64_t number) const noexcept {
        return number < keys ? number : hash_of(number) % keys;
    }
    /// The sum of all results of these updates. O(updates), by a plain array.
    [[nodiscard]] std::uint64_t sum_of(std::uint64_t from, std::uint64_t end) const {
        std::vector<std::uint32_t> counts(keys);
        std::uint64_t sum = 0;
        for (std::uint64_t number = 0; number != end; ++number) {
            const std::uint32_t count = ++counts[key_of(number)];
            if (number >= from) sum += count;
        }
        return sum;
    }
};

class Updates {
  public:
    using record_type = Update;
    static constexpr SourceTraits traits{.hears = events<>, .has = Has::wake_at_ns};

    explicit Updates(const Load& load) : load_(load) {}

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0; --budget) {
            if (next_ == load_.keys + load_.updates) return SourceStatus::finished;
            std::int64_t due_ns = 0;
            if (next_ >= load_.keys) {
                const std::int64_t now = now_ns();
                if (begun_ns_ == 0) {
                    begun_ns_ = now;
                    first_ = next_;
                }
                const std::uint64_t before = (next_ - first_) / load_.burst * load_.burst;
                due_ns = begun_ns_ + static_cast<std::int64_t>(before * 1'000'000'000 / load_.rate);
                if (due_ns > now) {
                    wake_at_ns_ = due_ns;
                    return SourceStatus::idle;
                }
            }
            if (!emit(Update{load_.key_of(next_++), due_ns})) break;
        }
        return SourceStatus::more;
    }
    [[nodiscard]] std::int64_t wake_at_ns() const noexcept { return wake_at_ns_; }
    auto state() { return std::tie(next_); }

  private:
    Load load_;
    std::uint64_t next_ = 0;
    std::uint64_t first_ = 0;    // at the rate
    std::int64_t begun_ns_ = 0;  // when it was due
    std::int64_t wake_at_ns_ = 0;
};

/// The state of a key: so many words, the key besides.
template <std::size_t words>
class Account {
  public:
    Result operator()(const Update& update) {
        ++updates_;
        values_[updates_ % values_.size()] += update.key;
        return {updates_, update.due_ns};
    }
    auto state() { return std::tie(updates_, values_); }

  private:
    std::uint64_t updates_ = 0;
    std::array<std::uint64_t, words - 1> values_{};
};
using Account100 = Account<11>;  // with the key about 100 bytes
using Account40 = Account<4>;

struct Measured {
    Histogram latency;
    std::uint64_t results = 0;
    std::uint64_t sum = 0;
    std::int64_t first_ns = 0;     // when the first result came
    double processor_seconds = 0;  // at the rate
    double seconds = 0;
};

double processor_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

class Results {
  public:
    static constexpr FunctionTraits traits{.hears = events<>, .stateless = true};

    explicit Results(Measured& measured) : measured_(&measured) {}

    void operator()(const Result& result) {
        if (measured_->first_ns == 0) measured_->first_ns = now_ns();
        ++measured_->results;
        measured_->sum += result.updates;
        if (result.due_ns == 0) return;
        const std::int64_t now = now_ns();
        if (began_ns_ == 0) {
            began_ns_ = now;
            began_ = processor_seconds();
        }
        measured_->latency.record(now - result.due_ns);
        if (measured_->latency.count() % 1'024 != 0) return;
        measured_->processor_seconds = processor_seconds() - began_;
        measured_->seconds = static_cast<double>(now - began_ns_) / 1e9;
    }

  private:
    Measured* measured_;
    double began_ = 0;  // the processor time, at the rate
    std::int64_t began_ns_ = 0;
};

template <class AccountOf>
Graph graph_of(const Load& load, Measured& measured) {
    Graph graph{"snapshot bench"};
    graph.source(Updates{load}, {.name = "updates"})
        .key_by<&Update::key>()
        .map(AccountOf{}, {.name = "accounts", .parallelism = 1})
        .sink(Results{measured}, {.name = "results", .parallelism = 1});
    return graph;
}

RunOptions options_of(const Settings& settings, std::uint64_t every) {
    RunOptions options;
    if (every == 0) return options;
    options.snapshots.folder = settings.folder;
    options.snapshots.every = std::chrono::seconds(every);
    options.on_warning = [](const std::string& text) {
        std::printf("warning: %s\n", text.c_str());
    };
    return options;
}

void check(const Load& load, const Measured& measured, std::uint64_t from, std::uint64_t end) {
    if (measured.results != end - from || measured.sum != load.sum_of(from, end)) {
        throw std::runtime_error("the results are not those of a plain computation");
    }
}

void print(const char* what, const Measured& measured) {
    const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
    std::printf(
        "row | %s | latency in ms: median %.3g, 99.9 %% %.3g, longest %.3g | %.3g of a core "
        "|\n",
        what, ms(measured.latency.percentile(50)), ms(measured.latency.percentile(99.9)),
        ms(measured.latency.max()), measured.processor_seconds / measured.seconds);
    std::fflush(stdout);
}

template <class AccountOf>
std::unique_ptr<Measured> to_the_end(const Settings& settings, const Load& load,
                                     std::uint64_t every, const char* what) {
    auto measured = std::make_unique<Measured>();
    std::filesystem::remove_all(settings.folder);
    (void)run(graph_of<AccountOf>(load, *measured), options_of(settings, every));
    check(load, *measured, 0, load.keys + load.updates);
    print(what, *measured);
    return measured;
}

void measure_pause(const Settings& settings) {
    if (settings.seconds == 0) return;
    const Load load{settings.keys, settings.rate, settings.rate * settings.seconds};
    const auto without = to_the_end<Account100>(settings, load, 0, "pause, without snapshots");
    const auto with =
        to_the_end<Account100>(settings, load, settings.every, "pause, with snapshots");
    print_bar("snapshots: longest latency in ms beyond that without",
              static_cast<double>(with->latency.max() - without->latency.max()) / 1e6, Bar::at_most,
              2);
    print_bar("snapshots: 99.9th percentile of latency in ms",
              static_cast<double>(with->latency.percentile(99.9)) / 1e6, Bar::at_most, 5);
}

double thread_ms() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/// The table of Account100 by itself.
void measure_slices(const Settings& settings) {
    if (settings.seconds == 0) return;
    using Table = KeyedState<std::uint64_t, Account100, KeyLife{.in_slices = true}>;
    const auto make = [] { return Account100{}; };
    Table table;
    const auto update = [&](std::uint64_t key) {
        return table.find_or_make(key, hash_of(key), make).state(Update{key, 0}).updates;
    };
    for (std::uint64_t key = 0; key != settings.keys; ++key) (void)update(key);
    std::vector<double> ms;
    const auto slices = operators::states_by_key(table, make).in_slices(operators::Saves::all);
    std::uint64_t number = 0;
    for (bool is_saved = false; !is_saved;) {
        for (int i = 0; i != 100; ++i) (void)update(hash_of(number++) % settings.keys);
        const double begin = thread_ms();
        is_saved = slices->save_slice({});
        ms.push_back(thread_ms() - begin);
    }
    const double begin = thread_ms();
    StateBytes bytes = slices->take();
    const double end_ms = thread_ms() - begin;
    Table fresh;
    StateReader reader(bytes.whole());
    auto part = operators::states_by_key(fresh, make);
    part.load(reader);
    reader.expect_end();
    for (auto& [hash, key, account] : fresh) {
        if (account(Update{key, 0}).updates == 2) continue;
        throw std::runtime_error("a saved state is not that of the cut");
    }
    if (fresh.keys() != settings.keys) throw std::runtime_error("keys are missing");
    std::printf(
        "row | slices of %zu bytes in all | %zu | ms of the processor: median %.3g, "
        "99.9 %% %.3g, longest %.3g, the end %.3g |\n",
        bytes.size(), ms.size(), quantile(ms, 0.5), quantile(ms, 0.999), quantile(ms, 1.0), end_ms);
    print_bar("snapshots: longest slice in ms of the processor",
              std::max(quantile(ms, 1.0), end_ms), Bar::at_most, 2);
}

void measure_cost(const Settings& settings) {
    if (settings.cost_seconds == 0) return;
    const Load load{settings.cost_keys, settings.cost_rate,
                    settings.cost_rate * settings.cost_seconds, settings.cost_rate / 50};
    const auto without = to_the_end<Account40>(settings, load, 0, "cost, without snapshots");
    const auto with =
        to_the_end<Account40>(settings, load, settings.cost_every, "cost, with snapshots");
    print_bar(
        "snapshots: cost of all threads, of a core",
        with->processor_seconds / with->seconds - without->processor_seconds / without->seconds,
        Bar::at_most, 0.2);
}

void measure_restart(const Settings& settings) {
    if (settings.seconds == 0) return;
    std::filesystem::remove_all(settings.folder);
    const Load load{settings.keys, settings.rate, settings.rate * 3'600};
    Measured before;
    {
        Running running = start(graph_of<Account100>(load, before), options_of(settings, 3'600));
        while (!running.wait_for(std::chrono::milliseconds(100))) {
            if (running.report().segments.front().operators.front().records_out > load.keys)
                running.stop();
        }
        (void)running.wait();
    }
    check(load, before, 0, before.results);
    Measured measured;
    const std::int64_t begin_ns = now_ns();
    {
        Running running = start(graph_of<Account100>(load, measured), options_of(settings, 3'600));
        while (!running.wait_for(std::chrono::milliseconds(100))) {
            if (running.report().segments.front().operators.front().records_out > settings.rate)
                running.stop();
        }
        (void)running.wait();
    }
    check(load, measured, before.results, before.results + measured.results);
    const double bytes = static_cast<double>(settings.keys * (sizeof(std::uint64_t) * 12));
    print_bar("snapshots: seconds from a start to the first result",
              static_cast<double>(measured.first_ns - begin_ns) / 1e9, Bar::at_most,
              std::max(3.0, bytes / 300e6));
}

}  // namespace

int main(int argc, char** argv) {
    try {
        Settings settings;
        CommandLine({{"--folder", text_into(settings.folder)},
                     {"--keys", number_into(settings.keys)},
                     {"--rate", number_into(settings.rate)},
                     {"--seconds", number_into(settings.seconds)},
                     {"--every", number_into(settings.every)},
                     {"--cost-keys", number_into(settings.cost_keys)},
                     {"--cost-rate", number_into(settings.cost_rate)},
                     {"--cost-seconds", number_into(settings.cost_seconds)},
                     {"--cost-every", number_into(settings.cost_every)}})
            .read(argc, argv);
        measure_pause(settings);
        measure_slices(settings);
        measure_cost(settings);
        measure_restart(settings);
        std::filesystem::remove_all(settings.folder);
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "snapshot_bench: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
