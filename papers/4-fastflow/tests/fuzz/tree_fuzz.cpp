// SPDX-License-Identifier: Apache-2.0
//
// Models of `strid tree`. Invariant: a model that is read is written, and what was written reads as
// the same model.
#include <string>

#include <strid/base/error.hpp>

#include "model.hpp"
#include "tests/support/fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace strid::tree;
    try {
        const Model model = read_model(strid::fuzz::text_of(data, size), "model");
        const std::string written = model_json(model);
        strid::fuzz::require(model_json(read_model(written, "written")) == written);
        strid::fuzz::require(!tree_text(model).empty());
    } catch (const strid::InputOutputError& error) {
        strid::fuzz::require(error.what()[0] != '\0');
    }
    return 0;
}
