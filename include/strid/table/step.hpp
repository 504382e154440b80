// SPDX-License-Identifier: Apache-2.0
//
// The one adapter between operators of tables and the engine's contract:
//
//     std::move(chunks).apply(table::step(table::filter(table::col("price") > 100, schema)))
//
// Reports have the counters `rows in` and `rows out` of it: what they count by themselves are
// chunks. Threads: those of an operator.
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include <strid/operator/contract.hpp>
#include <strid/operator/counter.hpp>
#include <strid/table/chunk.hpp>
#include <strid/table/table_operator.hpp>

namespace strid::table {

/// An operator of a table by value: a copy is that of another replica. Its codec is the operator's.
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
    /// As strid/state/codec.hpp says.
    void save(StateWriter& writer) const { one_->save(writer); }
    /// The same. Throws StateError.
    void load(StateReader& reader) { one_->load(reader); }

  private:
    std::unique_ptr<TableOperator> one_;
};

/// An operator of a table as one of a graph.
class TableStep : public OperatorTypes<Chunk, Chunk> {
  public:
    static constexpr OperatorTraits traits{.kind = "table",
                                           .emits = Emits::any_number,
                                           .hears = events<Opened>,
                                           .has = Has::facts,
                                           .forgets_input = true};

    /// Takes the operator.
    explicit TableStep(OwnedOperator one) noexcept : one_(std::move(one)) {}

    /// Hands the chunk to the operator. Throws EvaluationError.
    void process(Chunk& chunk, auto& emit) {
        rows_in_.add(chunk.rows());
        Counted counted(emit, rows_out_);
        one_->process(std::move(chunk), counted);
    }
    void on(const Opened& opened) {
        rows_in_ = opened.context.counter("rows in");
        rows_out_ = opened.context.counter("rows out");
    }
    /// The number of replicas, and the text of the operator.
    [[nodiscard]] OperatorFacts facts() const {
        return {.one_replica = one_->needs_all_rows(), .notes = {one_->text()}};
    }
    auto state() { return std::tie(one_); }

  private:
    template <class Emit>
    class Counted final : public ChunkOutput {
      public:
        Counted(Emit& emit, Counter& rows) noexcept : emit_(emit), rows_(rows) {}
        void emit(Chunk&& chunk) override {
            rows_.add(chunk.rows());
            emit_(std::move(chunk));
        }

      private:
        Emit& emit_;
        Counter& rows_;
    };

    OwnedOperator one_;
    Counter rows_in_;
    Counter rows_out_;
};

/// For `apply`.
[[nodiscard]] inline TableStep step(std::unique_ptr<TableOperator> one) {
    return TableStep(OwnedOperator(std::move(one)));
}

}  // namespace strid::table
