// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <chrono>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include <strid/base/error.hpp>
#include <strid/program/arguments.hpp>

#include "yahoo_benchmark.hpp"

namespace strid::apps {

namespace {

class YahooBenchmark final : public Application {
  public:
    YahooBenchmark()
        : Application(
              {.name = "yahoo-benchmark",
               .details =
                   "Input:     user,page,ad,ad_type,event_type,event_time,ip  (ids are numbers, "
                   "the "
                   "time\n"
                   "           in ms since 1970); views are counted\n"
                   "Campaigns: ad,campaign\n"
                   "Output:    campaign,window_start,window_end,count\n"
                   "Operators: events, views, project, join, time, count, rows, write\n"
                   "\n"
                   "Examples (in papers/2-windflow/yahoo-benchmark/data):\n"
                   "  strid run yahoo-benchmark --campaigns campaigns.csv --input events.csv\n"
                   "  strid run yahoo-benchmark --campaigns campaigns.csv --input events.csv "
                   "--window 1m\n"
                   "  python3 prepare.py more.csv campaigns.csv --events 10000000 --rate 1000000\n",
               .source_name = "events"}) {}

    void add_options(CLI::App& command) override {
        const auto duration = [&command](const char* name, std::chrono::nanoseconds& value,
                                         const char* help, auto read) {
            add_text_option(
                command, name, "TIME",
                [&value, read](const std::string& text) { value = read(text); }, help);
        };
        command.add_option("--campaigns", campaigns_path_, "The campaign of each ad; needed")
            ->type_name("FILE");
        duration("--window", counting_.window, "Length of the windows (default 10s)",
                 read_duration);
        duration("--reload", reload_,
                 "Look every TIME whether the file of campaigns has changed, and take a new one "
                 "over\n(default 0s: never)",
                 read_duration_or_zero);
        duration("--disorder", counting_.disorder,
                 "How far a view may lie before the latest before it (default 1s)",
                 read_duration_or_zero);
    }
    void check() const override {
        if (!campaigns_path_.empty()) return;
        throw GraphError(
            "yahoo-benchmark needs --campaigns FILE, as "
            "papers/2-windflow/yahoo-benchmark/data/campaigns.csv");
    }
    [[nodiscard]] std::vector<FileUse> files() const override {
        if (campaigns_path_.empty()) return {};
        return {{.kind = FileUse::Kind::reads, .path = campaigns_path_, .user = "--campaigns"}};
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        if (campaigns_path_.empty())
            return yahoo_benchmark::build(graph, endpoints, counting_,
                                          yahoo_benchmark::Campaigns{});
        const auto campaigns = yahoo_benchmark::read_campaigns(
            campaigns_path_,
            {.check_every = reload_, .report = say_that_old_ones_stay, .user = "--campaigns"});
        yahoo_benchmark::build(graph, endpoints, counting_, campaigns.current());
    }

  private:
    static void say_that_old_ones_stay(const std::string& failure) {
        std::fprintf(stderr, "strid: %s; the campaigns stay as they were\n", failure.c_str());
    }

    std::chrono::nanoseconds reload_{0};
    std::string campaigns_path_;
    yahoo_benchmark::Counting counting_;
};

}  // namespace

std::unique_ptr<Application> make_yahoo_benchmark() {
    return std::make_unique<YahooBenchmark>();
}

}  // namespace strid::apps
