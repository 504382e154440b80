// SPDX-License-Identifier: Apache-2.0
#include "apps/common/application.hpp"

#include <strid/program/arguments.hpp>

#include "word_count.hpp"

namespace strid::apps {

namespace {

class WordCount final : public Application {
  public:
    WordCount() : Application("word-count") {}

    void add_own_options(CLI::App& command) override {
        add_choice<Emit>(command, "--emit", options_.emit,
                         {{"final", Emit::at_end}, {"updates", Emit::every_update}},
                         "A row per word at the end of the text, or one per occurrence with the "
                         "count so far");
        add_form_option(command);
    }
    void build(Graph& graph, const Endpoints& endpoints) override {
        bytes_ = std::make_shared<word_count::ByteCount>(0);
        word_count::build(graph, endpoints, options_, bytes_);
    }
    [[nodiscard]] std::function<std::uint64_t()> bytes_done() const override {
        return [bytes = bytes_] { return bytes->load(std::memory_order_relaxed); };
    }

  private:
    word_count::Options options_;
    std::shared_ptr<word_count::ByteCount> bytes_;
};

}  // namespace

std::unique_ptr<Application> make_word_count() {
    return std::make_unique<WordCount>();
}

}  // namespace strid::apps
