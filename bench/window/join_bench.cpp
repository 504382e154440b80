// SPDX-License-Identifier: Apache-2.0
//
// The interval join with a million live records beside a hash join with expiry by hand, on one
// thread: two streams of a record a microsecond between them, half a million keys, each record with
// those of the other stream within a second, one on average. Rounds alternate; the table gives
// medians and the median and the range of the ratios round by round; pairs and their checksum must
// be the same.
//
// Then the same streams with one key for all, where each record meets some two hundred and one pair
// of 64 goes on: by key, which one worker then does, and with the left records shared.
//
//   join_bench [RECORDS [ROUNDS]]     default 6,000,000 records of both streams, 5 rounds
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <strid/operator/aligned.hpp>
#include <strid/stream/graph.hpp>

#include "../bar.hpp"
#include "../statistics.hpp"

namespace {

using namespace strid;
using namespace std::chrono_literals;

constexpr std::uint32_t keys = 500'000;
constexpr Duration reach = 1s;
constexpr Duration reach_of_one_key = 200us;
constexpr std::uint64_t pairs_a_chosen = 64;
constexpr std::int64_t step_ns = 1'000;

struct Order {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
};
struct Payment {
    std::uint32_t key;
    EventTime time;
    std::int64_t value;
};

/// Record `i` of both streams: even ones are orders, odd ones payments.
template <class T>
T record(std::uint64_t i, std::uint64_t mixed, std::uint32_t keys) {
    return {static_cast<std::uint32_t>((mixed >> 32) * keys >> 32),
            EventTime::of_ns(static_cast<std::int64_t>(i) * step_ns),
            static_cast<std::int64_t>(mixed & 0xffff)};
}

struct Checksum {
    std::uint64_t pairs = 0;
    std::uint64_t sum = 0;

    void add(const Order& order, const Payment& payment) noexcept {
        ++pairs;
        sum += static_cast<std::uint64_t>(order.value * 31 + payment.value);
    }
    friend bool operator==(const Checksum&, const Checksum&) = default;
};

struct Input {
    Input(std::uint64_t records, std::uint32_t keys) {
        std::mt19937_64 random{1};
        for (std::uint64_t i = 0; i < records; ++i) {
            if (i % 2 == 0) {
                orders.push_back(record<Order>(i, random(), keys));
            } else {
                payments.push_back(record<Payment>(i, random(), keys));
            }
        }
    }
    std::vector<Order> orders;
    std::vector<Payment> payments;
};

struct Measured {
    double seconds = 0;
    Checksum checksum = {};
    std::uint64_t live = 0;
};

// ---- by hand -----------------------------------------------------------------------------------

/// Records of a key, oldest first.
template <class T>
class Side {
  public:
    void expire_before(EventTime time, std::uint64_t& live) {
        for (; first_ != records_.size() && records_[first_].time < time; ++first_) --live;
        if (first_ == records_.size()) {
            records_.clear();
            first_ = 0;
        }
    }
    void add(const T& record) {
        if (first_ > 8 && first_ > records_.size() / 2) {
            records_.erase(records_.begin(),
                           records_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        records_.push_back(record);
    }
    template <class Take>
    void each(Take&& take) const {
        for (std::size_t i = first_; i != records_.size(); ++i) take(records_[i]);
    }

  private:
    std::vector<T> records_;
    std::size_t first_ = 0;
};

Measured by_hand(const Input& input) {
    struct Key {
        Side<Order> orders;
        Side<Payment> payments;
    };
    Measured measured;
    const std::int64_t begin_ns = now_ns();
    boost::unordered_flat_map<std::uint32_t, Key> table;
    std::uint64_t live = 0;
    for (std::size_t i = 0; i < input.orders.size(); ++i) {
        const Order& order = input.orders[i];
        Key& of_order = table[order.key];
        of_order.payments.expire_before(order.time - reach, live);
        of_order.payments.each([&](const Payment& one) { measured.checksum.add(order, one); });
        of_order.orders.add(order);
        ++live;
        if (i == input.payments.size()) break;
        const Payment& payment = input.payments[i];
        Key& of_payment = table[payment.key];
        of_payment.orders.expire_before(payment.time - reach, live);
        of_payment.orders.each([&](const Order& one) { measured.checksum.add(one, payment); });
        of_payment.payments.add(payment);
        ++live;
    }
    measured.seconds = static_cast<double>(now_ns() - begin_ns) * 1e-9;
    measured.live = live;
    return measured;
}

// ---- the engine --------------------------------------------------------------------------------

/// Reads records that live outside of the graph.
template <class T>
struct Lent {
    using record_type = T;
    static constexpr SourceTraits traits{.hears = events<>};
    const std::vector<T>* records;
    std::size_t next = 0;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && next != records->size(); --budget) {
            if (!emit((*records)[next++])) break;
        }
        return next != records->size() ? SourceStatus::more : SourceStatus::finished;
    }
    auto state() { return std::tie(next); }
};

struct Pair {
    Order order;
    Payment payment;
};

struct ChecksumSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    Checksum* result;
    Checksum checksum{};

    void operator()(const Pair& pair) noexcept { checksum.add(pair.order, pair.payment); }
    void on(Closed) noexcept { *result = checksum; }
    auto state() { return std::tie(checksum); }
};

/// One of the two streams. Neither runs ahead of the other by more than a hundredth of what is
/// kept.
template <class T>
auto timed(Graph& graph, const std::vector<T>& records, Duration kept) {
    return graph.source(Lent<T>{&records})
        .template event_time<&T::time>(MonotonousTime{})
        .apply(aligned(Alignment{kept / 100}));
}

Measured on_engine(const Input& input, std::size_t workers) {
    Measured measured;
    Graph graph{"join"};
    timed(graph, input.orders, reach)
        .join(timed(graph, input.payments, reach), on<&Order::key, &Payment::key>(),
              within(-reach, reach),
              [](const Order& order, const Payment& payment) {
                  return Pair{order, payment};
              },
              {.name = "join"})
        .sink(ChecksumSink{&measured.checksum});
    RunOptions options;
    options.workers = workers;
    measured.seconds = run(graph, options).seconds;
    return measured;
}

// ---- one key -----------------------------------------------------------------------------------

std::uint64_t score(const Order& order, const Payment& payment) noexcept {
    return static_cast<std::uint64_t>(order.value * 31 + payment.value);
}
constexpr auto is_chosen = [](std::uint64_t score) { return score % pairs_a_chosen == 0; };

/// Two cursors over both streams.
Checksum chosen_by_hand(const Input& input) {
    Checksum checksum;
    auto first = input.payments.begin();
    auto last = first;
    for (const Order& order : input.orders) {
        while (first != input.payments.end() && first->time < order.time - reach_of_one_key)
            ++first;
        while (last != input.payments.end() && last->time <= order.time + reach_of_one_key) ++last;
        for (auto at = first; at != last; ++at) {
            if (!is_chosen(score(order, *at))) continue;
            ++checksum.pairs;
            checksum.sum += score(order, *at);
        }
    }
    return checksum;
}

struct ScoreSink {
    static constexpr FunctionTraits traits{.hears = events<Closed>};

    Checksum* result;
    Checksum checksum{};

    void operator()(std::uint64_t score) noexcept {
        ++checksum.pairs;
        checksum.sum += score;
    }
    void on(Closed) noexcept { *result = checksum; }
    auto state() { return std::tie(checksum); }
};

Measured chosen_on_engine(const Input& input, bool shared) {
    Measured measured;
    Graph graph{"one key"};
    auto orders = timed(graph, input.orders, 1s);
    auto payments = timed(graph, input.payments, 1s);
    constexpr auto keys = on<&Order::key, &Payment::key>();
    const JoinInterval interval = within(-reach_of_one_key, reach_of_one_key);
    const ScoreSink sink{&measured.checksum};
    if (shared) {
        std::move(orders)
            .join(std::move(payments), keys, interval, score, share::farmed)
            .filter(is_chosen)
            .sink(sink);
    } else {
        std::move(orders)
            .join(std::move(payments), keys, interval, score)
            .filter(is_chosen)
            .sink(sink);
    }
    RunOptions options;
    options.workers = 2;
    measured.seconds = run(graph, options).seconds;
    return measured;
}

struct Row {
    std::string name;
    std::vector<double> seconds = {};
};

void print(const std::vector<Row>& rows, std::uint64_t records) {
    std::printf("\n| | M records/s | ratio (spread) |\n|---|---|---|\n");
    for (const Row& row : rows) {
        const std::vector<double> faster = bench::ratios(rows.front().seconds, row.seconds);
        const auto [low, high] = std::minmax_element(faster.begin(), faster.end());
        std::printf("| %s | %.2f | %.2f (%.2f to %.2f) |\n", row.name.c_str(),
                    static_cast<double>(records) / bench::median(row.seconds) / 1e6,
                    bench::median(faster), *low, *high);
    }
    std::fflush(stdout);
}

/// Whether the answers were those by hand.
bool many_keys(std::uint64_t records, int rounds) {
    const Input input{records, keys};
    std::vector<Row> rows{{"by hand"}, {"Strid, one worker"}, {"Strid, two workers"}};
    Checksum expected;
    bool right = true;
    for (int round = 0; round < rounds; ++round) {
        const Measured hand = by_hand(input);
        if (round == 0) {
            expected = hand.checksum;
            std::printf("%.2f million pairs; %.2f million records in the table at the end\n",
                        static_cast<double>(expected.pairs) / 1e6,
                        static_cast<double>(hand.live) / 1e6);
        }
        rows[0].seconds.push_back(hand.seconds);
        for (std::size_t workers = 1; workers <= 2; ++workers) {
            const Measured engine = on_engine(input, workers);
            right = right && engine.checksum == expected && expected.pairs != 0;
            rows[workers].seconds.push_back(engine.seconds);
        }
    }
    print(rows, records);
    std::printf("\n");
    bench::print_bar("interval join, a million live records, two workers / hash join by hand",
                     bench::median(bench::ratios(rows[0].seconds, rows[2].seconds)),
                     bench::Bar::at_least, 0.6);
    return right;
}

bool one_key(std::uint64_t records, int rounds) {
    const Input input{records, 1};
    const Checksum expected = chosen_by_hand(input);
    std::printf("\nOne key: %.2f million pairs are chosen\n",
                static_cast<double>(expected.pairs) / 1e6);
    std::vector<Row> rows{{"by key, two workers"}, {"shared, two workers"}};
    bool right = expected.pairs != 0;
    for (int round = 0; round < rounds; ++round) {
        for (const bool shared : {false, true}) {
            const Measured engine = chosen_on_engine(input, shared);
            right = right && engine.checksum == expected;
            rows[shared ? 1 : 0].seconds.push_back(engine.seconds);
        }
    }
    print(rows, records);
    return right;
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 6'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    if (records == 0 || rounds <= 0) {
        std::fprintf(stderr, "usage: join_bench [RECORDS [ROUNDS]]\n");
        return 2;
    }
    const bool right = many_keys(records, rounds) && one_key(records / 3, rounds);
    std::printf("\nanswers: %s\n", right ? "all equal" : "WRONG");
    return right ? 0 : 1;
}
