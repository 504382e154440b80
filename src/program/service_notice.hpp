// SPDX-License-Identifier: Apache-2.0
//
// Tells a service manager how the run does: that it is ready, that it is stopping, and while a
// watchdog is asked for, that it goes on (sd_notify(3): datagrams to the socket that NOTIFY_SOCKET
// names). Without that variable there is none.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <strid/program/companion.hpp>

namespace strid {

class ServiceNotice final : public Companion {
  public:
    /// Null: no service manager asks.
    [[nodiscard]] static std::shared_ptr<ServiceNotice> of_environment();

    ServiceNotice(std::string socket, std::chrono::microseconds watchdog);
    ~ServiceNotice() override { end(); }

    void prepare(const CompanionContext& context) override;
    void begin(Running& running) override;
    void end() noexcept override;

  private:
    void send(std::string_view text) const noexcept;
    void follow(const Running& running);

    const std::string socket_;
    const std::chrono::microseconds watchdog_;  // 0: none
    std::function<bool()> is_stopping_;
    bool has_begun_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_ending_ = false;  // under mutex_
    std::thread thread_;
};

}  // namespace strid
