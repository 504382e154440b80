// SPDX-License-Identifier: Apache-2.0
//
// The one adapter between operators of tables and the engine's contract:
//
//     std::move(chunks).apply(table::step(table::filter(table::col("price") > 100, schema)))
//
// Reports have the counters `rows in` and `rows out` of it: what they count by themselves are
// chunks, except for late rows, which they count as rows. With `late_apart` these are a stream of
// chunks. Threads: those of an operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <strid/base/error.hpp>
#include <strid/base/time.hpp>
#include <strid/base/watermark.hpp>
#include <strid/operator/contract.hpp>
#include <strid/operator/counter.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/table_operator.hpp>

namespace strid::table {

/// An operator of a table by value: a copy is that of another replica. Its codec is the operator's,
/// for the same computation.
class OwnedOperator {
  public:
    /// Takes the operator, which must be there.
    OwnedOperator(std::unique_ptr<TableOperator> one) noexcept : one_(std::move(one)) {}
    /// Another replica.
    OwnedOperator(const OwnedOperator& other) : one_(other.one_->copy()) {}
    /// The other may only be destroyed or assigned to.
    OwnedOperator(OwnedOperator&&) noexcept = default;
    OwnedOperator& operator=(const OwnedOperator& other) {
        one_ = other.one_->copy();
        return *this;
    }
    OwnedOperator& operator=(OwnedOperator&&) noexcept = default;
    ~OwnedOperator() = default;

    /// The operator.
    [[nodiscard]] TableOperator* operator->() const noexcept { return one_.get(); }
    /// As strid/state/codec.hpp says: with the text of the operator.
    void save(StateWriter& writer) const {
        writer.text(one_->text());
        one_->save(writer);
    }
    /// The same. Throws StateError, also if an operator of another text has saved it.
    void load(StateReader& reader) {
        const std::string saved(reader.text());
        if (const std::string text = one_->text(); saved != text) {
            throw StateError("the saved state is of another computation: '" + saved +
                             "', and this is '" + text + "'");
        }
        one_->load(reader);
    }

  private:
    std::unique_ptr<TableOperator> one_;
};

/// An operator of a table as one of a graph. One that draws watermarks gives the stream behind it
/// its time.
template <bool draws = false>
class TableStep : public OperatorTypes<Chunk, Chunk> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "table",
        .emits = Emits::any_number,
        .hears = events<Opened, Watermark, Ended> | events_if<Clock>(draws),
        .has = Has::facts,
        .forgets_input = true,
        .finds_late = true};

    /// Takes the operator.
    explicit TableStep(OwnedOperator one) noexcept : one_(std::move(one)) {}

    /// Hands the chunk to the operator. Throws EvaluationError.
    void process(Chunk& chunk, auto& emit) {
        rows_in_.add(chunk.rows());
        Counted<std::remove_reference_t<decltype(emit)>, true> counted(emit, rows_out_);
        one_->process(std::move(chunk), counted);
    }
    void on(const Opened& opened) {
        rows_in_ = opened.context.counter("rows in");
        rows_out_ = opened.context.counter("rows out");
    }
    bool on(Watermark watermark, auto& emit) {
        Counted counted(emit, rows_out_);
        return one_->watermark(draws ? EventTime::earliest() : watermark.time, counted);
    }
    bool on(Ended, auto& emit) {
        Counted counted(emit, rows_out_);
        return one_->ended(counted);
    }
    [[nodiscard]] Progress on(Clock)
        requires draws
    {
        return {one_->passed(EventTime::earliest()), false};
    }
    /// The number of replicas, and the text of the operator.
    [[nodiscard]] OperatorFacts facts() const {
        return {.one_replica = one_->needs_all_rows(), .notes = {one_->text()}};
    }
    auto state() { return std::tie(one_); }

  private:
    /// In `process` it `asserts` watermarks between two chunks.
    template <class Emit, bool asserts = false>
    class Counted final : public ChunkOutput {
      public:
        Counted(Emit& emit, Counter& rows) noexcept : emit_(emit), rows_(rows) {}
        void emit(Chunk&& chunk) override {
            rows_.add(chunk.rows());
            if constexpr (draws && asserts) {
                if (chunk.watermarks().capacity() != 0) return emit_pieces(chunk);
            }
            emit_(std::move(chunk));
        }
        void late(Chunk&& rows) override { emit_.late(std::as_const(rows), rows.rows()); }
        bool room() override { return emit_.room(); }

      private:
        /// Operators behind get the watermark of a row that lies behind it before the row.
        void emit_pieces(const Chunk& chunk) {
            const auto* const watermarks = chunk.watermarks().template values<std::int64_t>();
            std::int64_t asserted = EventTime::earliest().ns();
            ChunkMemory memory(1);  // the blocks live on without it
            std::size_t first = 0;
            const auto emit_until = [&](std::size_t end) {
                if (first == end) return;
                std::vector<std::uint16_t> rows(end - first);
                std::iota(rows.begin(), rows.end(), static_cast<std::uint16_t>(first));
                Chunk piece = chunk;
                piece.set_watermarks({});
                piece.keep_rows(rows, memory);
                emit_(std::move(piece));
                first = end;
            };
            for (std::size_t row = 0; row != chunk.rows(); ++row) {
                if (watermarks[row] <= asserted) continue;
                emit_until(row);
                asserted = watermarks[row];
                emit_.assert_progress(Progress{EventTime::of_ns(asserted), false});
            }
            emit_until(chunk.rows());
        }

        Emit& emit_;
        Counter& rows_;
    };

    OwnedOperator one_;
    Counter rows_in_;
    Counter rows_out_;
};

/// For `apply`. Throws GraphError for an operator that draws watermarks.
[[nodiscard]] inline TableStep<> step(std::unique_ptr<TableOperator> one) {
    if (one->draws_time())
        throw GraphError(one->text() + ": takes timed_step() in place of step()");
    return TableStep<>(OwnedOperator(std::move(one)));
}
/// For `apply`: an operator that draws watermarks, `event_time(...)`. Throws GraphError for
/// another.
[[nodiscard]] inline TableStep<true> timed_step(std::unique_ptr<TableOperator> one) {
    if (!one->draws_time()) throw GraphError(one->text() + ": draws no watermarks");
    return TableStep<true>(OwnedOperator(std::move(one)));
}

}  // namespace strid::table
