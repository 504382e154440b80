// SPDX-License-Identifier: Apache-2.0
//
// The farm by hand (farm.hpp) as the end of a graph: it takes quotes, and its collector writes the
// predictions.
//
// Threads: one at a time; its threads are those of the farm, from on(const Opened&) to on(Closed).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <strid/operator/contract.hpp>

#include "farm.hpp"
#include "price_model.hpp"
#include "quote.hpp"
#include "writers.hpp"

namespace strid::apps::trading {

/// A farm of any memory.
class AnyFarm {
  public:
    AnyFarm() = default;
    AnyFarm(const AnyFarm&) = delete;
    AnyFarm& operator=(const AnyFarm&) = delete;
    virtual ~AnyFarm() = default;

    virtual void emit(const Quote& quote) = 0;
    virtual void flush() = 0;
    virtual void finish() = 0;
    [[nodiscard]] virtual bool has_failed() const noexcept = 0;
};

/// The names of the memories, in the order of memories.hpp.
[[nodiscard]] std::vector<std::string> memory_names();

class FarmSink {
  public:
    static constexpr FunctionTraits traits{.hears = events<Opened, Flush, Closed>,
                                           .has = Has::blocks | Has::files,
                                           .one_replica = true,
                                           .no_snapshots = true,
                                           .stateless = true};

    /// `memory` is one of memory_names().
    FarmSink(std::string memory, const FarmOptions& options, const PriceModel& model,
             PredictionWriter writer)
        : memory_(std::move(memory)),
          options_(options),
          model_(model),
          writer_(std::move(writer)) {}

    void on(const Opened& opened);
    /// Waits while the rings are full. Throws what the model or the writer threw.
    void operator()(const Quote& quote) {
        if (farm_->has_failed()) [[unlikely]]
            farm_->finish();
        farm_->emit(quote);
    }
    void on(Flush) { farm_->flush(); }
    void on(Closed);
    /// Always: the rings may be full.
    [[nodiscard]] static bool blocks() noexcept { return true; }
    [[nodiscard]] std::vector<FileUse> files() const { return writer_.files(); }

  private:
    std::string memory_;
    FarmOptions options_;
    PriceModel model_;
    PredictionWriter writer_;                   // before the run
    std::shared_ptr<PredictionWriter> in_use_;  // the collector's
    std::shared_ptr<AnyFarm> farm_;             // last, so it ends first
};

}  // namespace strid::apps::trading
