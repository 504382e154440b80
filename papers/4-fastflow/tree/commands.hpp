// SPDX-License-Identifier: Apache-2.0
//
// The sub-commands of `strid tree`: each adds itself to a command line, and puts what it does into
// `action` where it is the one that was asked for.
#pragma once

#include <functional>

#include "tools/common/interruption.hpp"

namespace CLI {
class App;
}

namespace strid::tree {

using Action = std::function<int(const tool::Interruption&)>;

void add_learn_command(CLI::App& app, Action& action);
void add_predict_command(CLI::App& app, Action& action);
void add_generate_command(CLI::App& app, Action& action);

}  // namespace strid::tree
