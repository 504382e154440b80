// SPDX-License-Identifier: Apache-2.0
#include "aggregate_kernels.hpp"

#include <cstring>
#include <string_view>
#include <type_traits>

#include "aggregate_states.hpp"

namespace strid::table {

namespace {

using namespace aggregate;

template <class S>
S& state_at(std::byte* state) noexcept {
    return *reinterpret_cast<S*>(state);
}
template <class S>
const S& state_at(const std::byte* state) noexcept {
    return *reinterpret_cast<const S*>(state);
}

void count_rows(const RowsToAdd& rows, const Column* /*column*/, std::size_t offset) {
    for (std::size_t i = 0; i != rows.count; ++i) ++state_at<Rows>(rows.states[i] + offset).count;
}

template <class S>
void add_rows(const RowsToAdd& rows, const Column* column, std::size_t offset) {
    const auto* const values = column->template values<typename S::Value>() + rows.first;
    const auto add = [&](std::size_t i) {
        S& state = state_at<S>(rows.states[i] + offset);
        if constexpr (S::is_timed) {
            state.add(values[i], rows.times[i]);
        } else {
            state.add(values[i]);
        }
    };
    if (!column->has_nulls()) {
        for (std::size_t i = 0; i != rows.count; ++i) add(i);
    } else {
        for (std::size_t i = 0; i != rows.count; ++i) {
            if (!column->is_null(rows.first + i)) add(i);
        }
    }
}

/// Of states with `has` that keep a text.
template <class State>
concept KeepsText = requires(State& state) {
    state.has;
    state.kept.text;
};
template <class State>
concept OwnsMemory = requires(State& state) { state.owned; };

template <class S>
constexpr AggregateKernel made() {
    static_assert(sizeof(S) % 8 == 0 && alignof(S) <= 8);
    AggregateKernel kernel{};
    kernel.bytes = sizeof(S);
    if constexpr (std::is_same_v<S, Rows>) {
        kernel.add = count_rows;
    } else {
        kernel.add = add_rows<S>;
    }
    kernel.combine = [](std::byte* into, const std::byte* from) {
        state_at<S>(into).combine(state_at<S>(from));
    };
    kernel.value = [](const std::byte* state, Type type, double fraction) {
        return state_at<S>(state).value(type, fraction);
    };
    if constexpr (OwnsMemory<S>) {
        kernel.release = [](std::byte* state) noexcept { state_at<S>(state).release(); };
        kernel.save = [](StateWriter& writer, const std::byte* state) {
            state_at<S>(state).save(writer);
        };
        kernel.load = [](StateReader& reader, std::byte* state) {
            state_at<S>(state).load(reader);
        };
    } else if constexpr (KeepsText<S>) {
        kernel.release = [](std::byte* state) noexcept { state_at<S>(state).kept.release(); };
        kernel.save = [](StateWriter& writer, const std::byte* state) {
            writer.bytes({state, sizeof(S) - sizeof(TextWords)});
            state_at<S>(state).kept.save(writer);
        };
        kernel.load = [](StateReader& reader, std::byte* state) {
            const std::size_t front = sizeof(S) - sizeof(TextWords);
            std::memcpy(state, reader.bytes(front).data(), front);
            state_at<S>(state).kept.load(reader);
        };
    }
    return kernel;
}

template <class S>
constexpr AggregateKernel kernel = made<S>();

/// By the type that the values of a kind have in memory.
template <class Pick>
const AggregateKernel& of_kind(Kind kind, const Pick& pick) {
    if (kind == Kind::boolean) return pick(std::uint8_t{});
    if (kind == Kind::float64) return pick(double{});
    if (kind == Kind::text) return pick(std::string_view{});
    return pick(std::int64_t{});
}

}  // namespace

const AggregateKernel& counting_kernel() noexcept {
    return kernel<Rows>;
}

const AggregateKernel& kernel_of(AggregateFunction function, Kind kind) noexcept {
    const bool is_float = kind == Kind::float64;
    switch (function) {
        case AggregateFunction::count:
            return of_kind(kind, []<class T>(T) -> auto& { return kernel<Values<T>>; });
        case AggregateFunction::sum:
            return is_float ? kernel<FloatSum> : kernel<WholeSum>;
        case AggregateFunction::avg:
            return is_float ? kernel<FloatMean> : kernel<WholeMean>;
        case AggregateFunction::min:
            return of_kind(kind, []<class T>(T) -> auto& { return kernel<Extreme<T, false>>; });
        case AggregateFunction::max:
            return of_kind(kind, []<class T>(T) -> auto& { return kernel<Extreme<T, true>>; });
        case AggregateFunction::first:
            return of_kind(kind, []<class T>(T) -> auto& { return kernel<ByTime<T, false>>; });
        case AggregateFunction::last:
            return of_kind(kind, []<class T>(T) -> auto& { return kernel<ByTime<T, true>>; });
        case AggregateFunction::count_distinct:
            return of_kind(kind, []<class T>(T) -> auto& { return kernel<Distinct<T>>; });
        default:
            return is_float ? kernel<Quantile<double>> : kernel<Quantile<std::int64_t>>;
    }
}

}  // namespace strid::table
