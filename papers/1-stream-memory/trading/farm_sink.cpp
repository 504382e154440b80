// SPDX-License-Identifier: Apache-2.0
#include "farm_sink.hpp"

#include "memories.hpp"

namespace strid::apps::trading {

namespace {

/// Writes predictions on the collector's thread, and at once what came where no more waits.
struct WritePredictions {
    PredictionWriter* writer;
    Counter predictions;

    void operator()(const Prediction& prediction) {
        (*writer)(prediction);
        predictions.add();
    }
    void idle() const {
        if (writer->holds_rows()) writer->on(Flush{});
    }
};

template <class Memory>
class FarmOf final : public AnyFarm {
  public:
    FarmOf(const FarmOptions& options, const PriceModel& model, WritePredictions take)
        : farm_(options, model, take) {}

    void emit(const Quote& quote) override { farm_.emit(quote); }
    void flush() override { farm_.flush(); }
    void finish() override { farm_.finish(); }
    [[nodiscard]] bool has_failed() const noexcept override { return farm_.has_failed(); }

  private:
    Farm<typename Memory::Carrier, typename Memory::Results, PriceModel, WritePredictions> farm_;
};

}  // namespace

std::vector<std::string> memory_names() {
    std::vector<std::string> names;
    for_each_memory(
        [&names](std::string_view name, std::string_view, auto) { names.emplace_back(name); });
    return names;
}

void FarmSink::on(const Opened& opened) {
    in_use_ = std::make_shared<PredictionWriter>(writer_);
    in_use_->on(opened);
    const WritePredictions take{in_use_.get(), opened.context.counter("predictions")};
    for_each_memory([&]<class Memory>(std::string_view name, std::string_view, Memory) {
        if (name != memory_) return;
        farm_ = std::make_shared<FarmOf<Memory>>(options_, model_, take);
    });
}

void FarmSink::on(Closed) {
    farm_->finish();
    in_use_->on(Closed{});
}

}  // namespace strid::apps::trading
