// SPDX-License-Identifier: Apache-2.0
//
// The program of one application, which `strid run NAME` and `strid explain NAME` become. CMake
// compiles it once for each, with the function that makes the application as STRID_APPLICATION.
#include <memory>

#include "application.hpp"
#include "application_main.hpp"

namespace strid::apps {
[[nodiscard]] std::unique_ptr<Application> STRID_APPLICATION();
}

int main(int argc, char** argv) {
    return strid::apps::application_main(argc, argv, strid::apps::STRID_APPLICATION);
}
