// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <strid/base/error.hpp>
#include <strid/state/codec.hpp>
#include <strid/table/table_operator.hpp>

namespace strid::table {

namespace {

class Filter final : public TableOperator {
  public:
    Filter(const Expression& condition, const Schema& schema,
           const std::vector<std::string>& columns, OnFault on_fault)
        : text_("filter " + condition.text()),
          condition_(condition, schema, on_fault),
          output_(schema) {
        if (condition_.type().kind != Kind::boolean) {
            throw ExpressionError(fmt::format("{}: a filter takes bool, and this is {}",
                                              condition.text(), name_of(condition_.type())));
        }
        if (columns.empty()) return;
        std::vector<Field> fields;
        for (const std::string& name : columns) {
            columns_.push_back(schema.place_of(name));
            fields.push_back(schema[columns_.back()]);
        }
        output_ = Schema(std::move(fields));
    }
    Filter(const Filter& other)
        : TableOperator(other),
          text_(other.text_),
          condition_(other.condition_),
          output_(other.output_),
          columns_(other.columns_) {}

    std::string_view kind() const noexcept override { return "filter"; }
    std::string text() const override { return text_; }
    const Schema& output() const noexcept override { return output_; }
    std::unique_ptr<TableOperator> copy() const override { return std::make_unique<Filter>(*this); }

    void process(Chunk&& chunk, ChunkOutput& output) override {
        const std::span<const std::uint16_t> rows = condition_.select(chunk);
        if (rows.empty()) return;
        // Few rows do not keep the text of all others.
        const bool are_few = rows.size() <= small_rows_max && rows.size() * 4 <= chunk.rows();
        Chunk kept = std::move(chunk);
        if (!columns_.empty()) kept.keep_columns(output_, columns_);
        kept.keep_rows(rows, memory_);
        if (are_few) kept.move_texts(texts_);
        output.emit(std::move(kept));
    }

  private:
    std::string text_;
    Evaluator condition_;
    Schema output_;
    std::vector<std::size_t> columns_;  // that are kept; none: all
    ChunkMemory memory_;
    TextWriter texts_{memory_};
};

class Project final : public TableOperator {
  public:
    Project(const std::vector<Computed>& columns, const Schema& schema, OnFault on_fault) {
        std::vector<Field> fields;
        for (const Computed& column : columns) {
            const Evaluator& evaluator =
                evaluators_.emplace_back(column.expression, schema, on_fault);
            fields.push_back({column.name, evaluator.type()});
            makes_texts_ = makes_texts_ || evaluator.type().kind == Kind::text;
            text_ += text_.empty() ? "project " : ", ";
            const std::string computed = column.expression.text();
            text_ += computed == column.name ? computed : computed + " as " + column.name;
        }
        output_ = Schema(std::move(fields));
    }
    Project(const Project&) = default;

    std::string_view kind() const noexcept override { return "project"; }
    std::string text() const override { return text_; }
    const Schema& output() const noexcept override { return output_; }
    std::unique_ptr<TableOperator> copy() const override {
        return std::make_unique<Project>(*this);
    }

    void process(Chunk&& chunk, ChunkOutput& output) override {
        Chunk from = std::move(chunk);
        Chunk made(output_, evaluators_.size(), from.rows());
        made.set_watermarks(from.watermarks());
        bool holds_all = !makes_texts_ || made.hold_texts_of(from);
        for (std::size_t i = 0; i != evaluators_.size(); ++i) {
            made.column(i) = evaluators_[i].evaluate(from, memory_);
            for (const memory::TextReference& text : evaluators_[i].texts()) {
                holds_all = holds_all && made.hold(text);
            }
        }
        // Arenas that it does not hold live until here: `from` and the evaluators hold them.
        if (!holds_all) made = made.copied(memory_);
        from = Chunk{};  // its columns are those of the new chunk alone
        output.emit(std::move(made));
    }

  private:
    std::string text_;
    std::vector<Evaluator> evaluators_;
    Schema output_;
    bool makes_texts_ = false;
    ChunkMemory memory_;
};

class Limit final : public TableOperator {
  public:
    Limit(std::uint64_t rows, Schema schema)
        : rows_(rows), left_(rows), output_(std::move(schema)) {}

    std::string_view kind() const noexcept override { return "limit"; }
    std::string text() const override { return fmt::format("limit {}", rows_); }
    const Schema& output() const noexcept override { return output_; }
    std::unique_ptr<TableOperator> copy() const override {
        return std::make_unique<Limit>(rows_, output_);
    }
    bool needs_all_rows() const noexcept override { return true; }

    void process(Chunk&& chunk, ChunkOutput& output) override {
        if (left_ == 0) return;
        Chunk kept = std::move(chunk);
        kept.set_rows(std::min<std::uint64_t>(kept.rows(), left_));
        left_ -= kept.rows();
        output.emit(std::move(kept));
    }
    void save(StateWriter& writer) const override { state::save(writer, left_); }
    void load(StateReader& reader) override {
        state::load(reader, left_);
        if (left_ > rows_) reader.refuse("has more rows left than there are");
    }

  private:
    std::uint64_t rows_;
    std::uint64_t left_;
    Schema output_;
};

}  // namespace

std::unique_ptr<TableOperator> filter(const Expression& condition, const Schema& schema,
                                      const std::vector<std::string>& columns, OnFault on_fault) {
    return std::make_unique<Filter>(condition, schema, columns, on_fault);
}
std::unique_ptr<TableOperator> project(const std::vector<Computed>& columns, const Schema& schema,
                                       OnFault on_fault) {
    return std::make_unique<Project>(columns, schema, on_fault);
}
std::unique_ptr<TableOperator> limit(std::uint64_t rows, const Schema& schema) {
    return std::make_unique<Limit>(rows, schema);
}

}  // namespace strid::table
