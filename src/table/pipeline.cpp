// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "improved_plan.hpp"

namespace strid::table {

namespace {

class Pipeline final : public TableOperator {
  public:
    Pipeline(std::vector<std::unique_ptr<TableOperator>> operators, Schema schema)
        : operators_(std::move(operators)), schema_(std::move(schema)) {
        if (!operators_.empty()) schema_ = operators_.back()->output();
    }

    std::string_view kind() const noexcept override { return "pipeline"; }
    std::string text() const override {
        std::string text;
        for (const auto& one : operators_) text += (text.empty() ? "" : "; ") + one->text();
        return text;
    }
    const Schema& output() const noexcept override { return schema_; }
    std::unique_ptr<TableOperator> copy() const override {
        std::vector<std::unique_ptr<TableOperator>> copies;
        for (const auto& one : operators_) copies.push_back(one->copy());
        return std::make_unique<Pipeline>(std::move(copies), schema_);
    }
    bool needs_all_rows() const noexcept override {
        return std::ranges::any_of(operators_,
                                   [](const auto& one) { return one->needs_all_rows(); });
    }
    void process(Chunk&& chunk, ChunkOutput& output) override {
        From(*this, 0, output).emit(std::move(chunk));
        // The next call of the engine emits the rest, if there is no room for all.
        if (draws_time()) (void)watermark(arrived_, output);
    }
    bool watermark(EventTime watermark, ChunkOutput& output) override {
        arrived_ = watermark;
        for (std::size_t i = 0; i != operators_.size(); ++i) {
            From behind(*this, i + 1, output);
            if (!operators_[i]->watermark(watermark, behind)) return false;
            watermark = operators_[i]->passed(watermark);
        }
        return true;
    }
    /// An operator that was there is asked again, and has nothing more.
    bool ended(ChunkOutput& output) override {
        EventTime watermark = arrived_;
        for (std::size_t i = 0; i != operators_.size(); ++i) {
            From behind(*this, i + 1, output);
            if (!operators_[i]->watermark(watermark, behind)) return false;
            if (!operators_[i]->ended(behind)) return false;
            watermark = operators_[i]->passed(watermark);
        }
        return true;
    }
    EventTime passed(EventTime arrived) const noexcept override {
        for (const auto& one : operators_) arrived = one->passed(arrived);
        return arrived;
    }
    bool draws_time() const noexcept override {
        return std::ranges::any_of(operators_, [](const auto& one) { return one->draws_time(); });
    }
    void save(StateWriter& writer) const override {
        for (const auto& one : operators_) one->save(writer);
    }
    void load(StateReader& reader) override {
        for (const auto& one : operators_) one->load(reader);
    }

  private:
    /// Takes the chunks that the operator at a place is to process.
    class From final : public ChunkOutput {
      public:
        From(Pipeline& pipeline, std::size_t place, ChunkOutput& output) noexcept
            : pipeline_(pipeline), place_(place), output_(output) {}
        void emit(Chunk&& chunk) override {
            if (place_ == pipeline_.operators_.size()) return output_.emit(std::move(chunk));
            From behind(pipeline_, place_ + 1, output_);
            pipeline_.operators_[place_]->process(std::move(chunk), behind);
        }
        // Chunks of the operator before this place: its late rows leave the pipeline.
        void late(Chunk&& rows) override { output_.late(std::move(rows)); }
        bool room() override { return output_.room(); }

      private:
        Pipeline& pipeline_;
        std::size_t place_;
        ChunkOutput& output_;
    };

    std::vector<std::unique_ptr<TableOperator>> operators_;
    Schema schema_;
    EventTime arrived_ = EventTime::earliest();  // the engine says it again after a restart
};

}  // namespace

std::unique_ptr<TableOperator> pipeline(std::vector<std::unique_ptr<TableOperator>> operators,
                                        const Schema& schema) {
    return std::make_unique<Pipeline>(std::move(operators), schema);
}

}  // namespace strid::table
