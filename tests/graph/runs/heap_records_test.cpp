// SPDX-License-Identifier: Apache-2.0
//
// Back-pressure of records that own memory: what waits in a graph is bounded in bytes, not only in
// records. The memory is what the records' allocator counts.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <strid/stream/graph.hpp>

#include "../../support/perturbed.hpp"

namespace strid {
namespace {

using namespace std::chrono_literals;

struct Memory {
    static inline std::atomic<std::int64_t> now{0};
    static inline std::atomic<std::int64_t> most{0};

    static void add(std::int64_t bytes) {
        const std::int64_t sum = now.fetch_add(bytes) + bytes;
        std::int64_t before = most.load();
        while (before < sum && !most.compare_exchange_weak(before, sum)) {
        }
    }
};

template <class T>
struct Counting {
    using value_type = T;
    Counting() = default;
    template <class U>
    Counting(const Counting<U>&) {}  // NOLINT: allocators convert
    T* allocate(std::size_t count) {
        Memory::add(static_cast<std::int64_t>(count * sizeof(T)));
        return std::allocator<T>{}.allocate(count);
    }
    void deallocate(T* pointer, std::size_t count) {
        Memory::add(-static_cast<std::int64_t>(count * sizeof(T)));
        std::allocator<T>{}.deallocate(pointer, count);
    }
    friend bool operator==(const Counting&, const Counting&) { return true; }
};

constexpr std::size_t record_bytes = 64 << 10;
const int count = test::perturbed ? 100 : 600;
/// Blocks of a link, the one that is filled, a spare and what the sink has, of what they may own.
constexpr std::int64_t bound_bytes = 8 * ((256 << 10) + std::int64_t{record_bytes});

using Bytes = std::vector<char, Counting<char>>;
/// Memory that is there and that nothing has to write.
Bytes some_bytes() {
    Bytes bytes;
    bytes.reserve(record_bytes);
    return bytes;
}
struct Nested {
    int number;
    std::optional<Bytes> bytes;
    [[nodiscard]] static Nested make(int n) { return {n, some_bytes()}; }
};
/// The engine uses nothing of it but what it reports.
class Opaque {
  public:
    explicit Opaque(int n) : number(n), bytes_(std::make_shared<Bytes>(some_bytes())) {}
    [[nodiscard]] std::size_t heap_bytes() const { return bytes_->capacity(); }
    [[nodiscard]] static Opaque make(int n) { return Opaque{n}; }
    int number;

  private:
    std::shared_ptr<Bytes> bytes_;
};

template <class T>
struct Source {
    using record_type = T;
    static constexpr SourceTraits traits{.hears = events<>, .stateless = true};
    std::shared_ptr<std::atomic<int>> made;

    template <class Emit>
    SourceStatus poll(Emit& emit, std::size_t budget) {
        for (; budget != 0 && made->load() != count; --budget) {
            if (!emit(T::make(made->fetch_add(1)))) break;
        }
        return made->load() == count ? SourceStatus::finished : SourceStatus::more;
    }
};

/// Takes its first record only when the source has come as far as it may.
template <class T>
struct SlowSink {
    std::shared_ptr<std::atomic<int>> made;
    std::shared_ptr<std::atomic<const Running*>> running;
    std::shared_ptr<int> taken;

    void operator()(const T& record) const {
        if ((*taken)++ == 0) wait_for_source();
        EXPECT_EQ(record.number, *taken - 1);
    }

  private:
    void wait_for_source() const {
        while (running->load() == nullptr) std::this_thread::yield();
        const auto is_refused = [this] {
            return running->load()->report().segments.front().refused_ns != 0;
        };
        while (made->load() != count && !is_refused()) std::this_thread::yield();
    }
};

template <class T>
class RecordsOnTheHeap : public testing::Test {
  protected:
    RecordsOnTheHeap() {
        EXPECT_EQ(Memory::now, 0);
        Memory::most = 0;
    }
    /// With a thread for the source, which goes on while the sink waits.
    void run_to_the_end(const Graph& graph) {
        Running run = start(graph, {.mode = RunOptions::Mode::dedicated});
        *running = &run;
        run.wait();
        EXPECT_EQ(*taken, count);
    }
    std::shared_ptr<std::atomic<int>> made = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<std::atomic<const Running*>> running =
        std::make_shared<std::atomic<const Running*>>(nullptr);
    std::shared_ptr<int> taken = std::make_shared<int>(0);
};
using Kinds = testing::Types<Nested, Opaque>;
TYPED_TEST_SUITE(RecordsOnTheHeap, Kinds);

TYPED_TEST(RecordsOnTheHeap, AreHeldBackByTheirBytes) {
    Graph graph{"bytes"};
    graph.source(Source<TypeParam>{this->made})
        .separate()
        .sink(SlowSink<TypeParam>{this->made, this->running, this->taken});
    this->run_to_the_end(graph);
    EXPECT_EQ(Memory::now, 0);
    EXPECT_LE(Memory::most, bound_bytes) << "of " << count << " records";
}

TYPED_TEST(RecordsOnTheHeap, AreHeldBackByKey) {
    Graph graph{"bytes-by-key"};
    graph.source(Source<TypeParam>{this->made})
        .key_by([](const TypeParam&) { return 1; })
        .sink(SlowSink<TypeParam>{this->made, this->running, this->taken}, {.parallelism = 1});
    this->run_to_the_end(graph);
    EXPECT_LE(Memory::most, bound_bytes);
}

TYPED_TEST(RecordsOnTheHeap, OfOneRecordThatFansOutAreBounded) {
    Graph graph{"fan-out"};
    graph.source(Source<TypeParam>{this->made})
        .template flat_map<TypeParam>(
            [](const TypeParam&, auto& emit) {
                for (int n = 0; n != 100'000; ++n) emit(TypeParam::make(n));
            },
            {.name = "endless"})
        .separate()
        .sink([](const TypeParam&) { std::this_thread::sleep_for(1ms); });
    try {
        run(graph, {.fan_out_bytes_max = 8 << 20});
        FAIL() << "no bound";
    } catch (const OperatorError& error) {
        EXPECT_EQ(error.operator_name(), "endless");
        EXPECT_THAT(error.what(), testing::HasSubstr("fan_out_bytes_max"));
    }
    EXPECT_LE(Memory::most, bound_bytes + (16 << 20));
}

}  // namespace
}  // namespace strid
