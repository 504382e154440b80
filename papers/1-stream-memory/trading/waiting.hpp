// SPDX-License-Identifier: Apache-2.0
//
// How the threads of the farm wait: a short spin, then the core is offered to others, since
// there may be more threads than cores. One thread each.
#pragma once

#include <thread>

namespace strid::apps::trading {

class Patience {
  public:
    void wait() noexcept {
        if (++tries_ < spins) {
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        } else {
            std::this_thread::yield();
        }
    }
    void reset() noexcept { tries_ = 0; }

  private:
    static constexpr unsigned spins = 16;
    unsigned tries_ = 0;
};

}  // namespace strid::apps::trading
