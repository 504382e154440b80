// SPDX-License-Identifier: Apache-2.0
#include "search.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include <strid/base/error.hpp>
#include <strid/pattern/parallel_for.hpp>
#include <strid/pattern/pattern.hpp>

#include "batch_plan.hpp"

namespace strid::align {

namespace {

/// Some queries with some sequences.
struct Task {
    std::shared_ptr<const SequenceBatch> batch;
    QueryRange queries;
};

/// The tasks: each batch of the database, with all queries in groups.
class Feeder {
  public:
    Feeder(SequenceReader& database, const std::vector<Query>& queries, const ReadSome& read_some)
        : database_(database), plan_(queries), read_some_(read_some) {}

    [[nodiscard]] std::optional<Task> next() {
        if (!batch_ || !plan_.has_next()) {
            auto batch = std::make_shared<SequenceBatch>();
            if (!database_.read(*batch, batch_residues)) return std::nullopt;
            read_some_(*batch);
            plan_.begin(batch->residues());
            batch_ = std::move(batch);
        }
        return Task{batch_, plan_.next()};
    }

  private:
    SequenceReader& database_;
    BatchPlan plan_;
    const ReadSome& read_some_;
    std::shared_ptr<const SequenceBatch> batch_;
};

/// The hits of all workers.
class Gathered {
  public:
    Gathered(std::size_t queries, const TopHits& none) : hits_(queries, none) {}

    void add(Hits& hits) {
        const std::lock_guard lock(mutex_);
        for (std::size_t i = 0; i < hits.size(); ++i) hits_[i].merge(std::move(hits[i]));
    }
    /// After the run.
    [[nodiscard]] Hits& hits() noexcept { return hits_; }

  private:
    std::mutex mutex_;
    Hits hits_;  // guarded
};

class Worker : public OperatorTypes<Task, void> {
  public:
    static constexpr OperatorTraits traits{
        .kind = "search", .emits = Emits::nothing, .hears = events<Closed>};

    Worker(const std::vector<Query>& queries, const TopHits& none,
           const tool::Interruption& interruption, Gathered& gathered)
        : queries_(&queries),
          interruption_(&interruption),
          gathered_(&gathered),
          hits_(queries.size(), none) {}

    void process(Task& task, auto& /*emit*/) {
        for (std::size_t i = task.queries.begin; i < task.queries.end; ++i) {
            interruption_->check();
            hits_[i].search((*queries_)[i], *task.batch);
        }
    }
    void on(Closed) { gathered_->add(hits_); }
    auto state() { return std::tie(hits_); }

  private:
    const std::vector<Query>* queries_;
    const tool::Interruption* interruption_;
    Gathered* gathered_;
    Hits hits_;
};

}  // namespace

Hits search_database(SequenceReader& database, const std::vector<Query>& queries,
                     const TopHits& none, const tool::WorkerOptions& workers,
                     const tool::Interruption& interruption, const ReadSome& read_some) {
    Feeder feeder(database, queries, read_some);
    Gathered gathered(queries.size(), none);
    // On demand: tasks differ in length, and no worker is given more than one ahead.
    (void)pattern::run(
        pattern::pipeline(pattern::source([&feeder] { return feeder.next(); }),
                          pattern::farm(Worker(queries, none, interruption, gathered),
                                        pattern::OnDemand{2}, {.workers = workers.count})),
        workers.of_pattern());
    return std::move(gathered.hits());
}

void align_results(std::vector<std::vector<Result>>& results, const std::vector<Query>& queries,
                   const Scoring& scoring, pattern::Team& team,
                   const tool::Interruption& interruption) {
    struct Place {
        std::size_t query;
        std::size_t rank;
    };
    std::vector<Place> places;
    for (std::size_t query = 0; query < results.size(); ++query) {
        for (std::size_t rank = 0; rank < results[query].size(); ++rank) {
            places.push_back({query, rank});
        }
    }
    pattern::parallel_for(team, 0, places.size(), [&](std::size_t i) {
        Result& result = results[places[i].query][places[i].rank];
        const QueryStrand& strand = *queries[places[i].query].strands()[result.hit.strand];
        result.alignment = align(strand.residues(), result.hit.residues, result.hit.score, scoring,
                                 interruption.requested());
    });
}

}  // namespace strid::align
