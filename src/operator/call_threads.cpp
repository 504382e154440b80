// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>

#include <strid/base/error.hpp>
#include <strid/engine/operator/call_threads.hpp>

namespace strid::operators {

// Each thread waits at a condition of its own, for a call that it is given. At one that they share,
// the C library may lose a wake-up (glibc before 2.41, bug 25847).
struct CallThreads::Shared {
    struct Worker {
        std::thread thread;
        std::condition_variable given;       // a call, or the end
        std::shared_ptr<ThreadedCall> call;  // guarded: in its hands, or given to it
        bool begun = false;                  // guarded: the call is in its hands
        bool ended = false;                  // guarded
    };

    void run(Worker& self, std::size_t number) {
        // 15 characters are the most.
        ::pthread_setname_np(::pthread_self(), ("strid-call-" + std::to_string(number)).c_str());
        std::unique_lock lock{mutex};
        while (true) {
            self.given.wait(lock, [this, &self] { return ending || self.call != nullptr; });
            if (self.call == nullptr) break;
            std::shared_ptr<ThreadedCall> call = self.call;
            self.begun = true;
            lock.unlock();
            call->make(call->stop_.get_token());
            lock.lock();
            free(self);
            const bool first = done.empty();
            if (!call->given_up_) done.push_back(std::move(call));
            // The task takes all that are done, and a thread that is free again may be needed.
            if (task != nullptr && (first || call != nullptr)) task->notify();
            if (call == nullptr) continue;
            lock.unlock();
            call.reset();  // it may be the last owner of the record
            lock.lock();
        }
        self.ended = true;
        ended.notify_all();
    }
    /// It takes the next call that waits, or is given one later. Under the mutex.
    void free(Worker& worker) {
        worker.call.reset();
        worker.begun = false;
        if (queue.empty()) return idle.push_back(&worker);
        worker.call = std::move(queue.front());
        queue.pop_front();
    }
    /// Any thread.
    void request_stop() noexcept {
        const std::lock_guard lock{mutex};
        for (const auto& worker : workers) {
            if (worker->call != nullptr) worker->call->stop_.request_stop();
        }
        for (const auto& call : queue) call->stop_.request_stop();
    }
    /// No thread is left whose call is still to be waited for. Under the mutex.
    [[nodiscard]] bool all_returned() const {
        return std::ranges::all_of(workers, [this](const auto& worker) {
            const bool is_left = limited && worker->call != nullptr && worker->call->given_up_;
            return worker->ended || is_left;
        });
    }

    std::mutex mutex;
    std::condition_variable ended;
    std::deque<std::shared_ptr<ThreadedCall>> queue;  // guarded, and all below; none is idle then
    std::vector<std::shared_ptr<ThreadedCall>> done;
    std::vector<std::unique_ptr<Worker>> workers;
    std::vector<Worker*> idle;  // have no call; the last one waits since the shortest time
    std::size_t workers_max = 0;
    runtime::Task* task = nullptr;
    bool limited = false;
    bool ending = false;
};

CallThreads::CallThreads(std::size_t at_once, runtime::Task& task, std::stop_token interruption,
                         std::int64_t limit_ns)
    : shared_(std::make_shared<Shared>()), limit_ns_(limit_ns) {
    shared_->workers_max = 2 * at_once;
    shared_->task = &task;
    shared_->limited = limit_ns != 0;
    on_interruption_ = std::make_unique<std::stop_callback<std::function<void()>>>(
        std::move(interruption), [shared = shared_.get()] { shared->request_stop(); });
}

CallThreads::~CallThreads() {
    close();
}

bool CallThreads::has_free() const {
    const std::lock_guard lock{shared_->mutex};
    return !shared_->idle.empty() || shared_->workers.size() < shared_->workers_max;
}

void CallThreads::begin(std::shared_ptr<ThreadedCall> call) {
    const std::lock_guard lock{shared_->mutex};
    Shared& shared = *shared_;
    if (!shared.idle.empty()) {
        Shared::Worker& worker = *shared.idle.back();
        shared.idle.pop_back();
        worker.call = std::move(call);
        return worker.given.notify_one();
    }
    auto& workers = shared.workers;
    if (workers.size() == shared.workers_max) return shared.queue.push_back(std::move(call));
    workers.push_back(std::make_unique<Shared::Worker>());
    Shared::Worker& self = *workers.back();
    self.call = std::move(call);
    const std::size_t number = workers.size() - 1;
    try {
        self.thread = std::thread([shared = shared_, &self, number] { shared->run(self, number); });
    } catch (const std::system_error& error) {
        call = std::move(self.call);
        workers.pop_back();
        if (workers.empty()) {
            throw Error(std::string("no thread could be made for its calls: ") + error.what());
        }
        shared.workers_max = workers.size();
        shared.queue.push_back(std::move(call));  // waits for one of them
    }
}

void CallThreads::give_up(ThreadedCall& call) {
    {
        const std::lock_guard lock{shared_->mutex};
        call.given_up_ = true;
        // Its thread was busy all the time, or has not begun it.
        auto& queue = shared_->queue;
        const auto waits = std::ranges::find_if(
            queue, [&call](const auto& waiting) { return waiting.get() == &call; });
        if (waits != queue.end()) queue.erase(waits);
        for (const auto& worker : shared_->workers) {
            if (worker->call.get() == &call && !worker->begun) shared_->free(*worker);
        }
    }
    call.stop_.request_stop();
}

void CallThreads::take_done(std::vector<std::shared_ptr<ThreadedCall>>& done) {
    done.clear();
    const std::lock_guard lock{shared_->mutex};
    done.swap(shared_->done);
}

void CallThreads::close() noexcept {
    if (on_interruption_ == nullptr) return;
    on_interruption_.reset();
    Shared& shared = *shared_;
    {
        const std::lock_guard lock{shared.mutex};
        shared.ending = true;
        shared.task = nullptr;
        shared.queue.clear();
        for (const auto& worker : shared.workers) {
            if (!worker->begun) worker->call.reset();
            worker->given.notify_one();
        }
    }
    shared.request_stop();
    std::unique_lock lock{shared.mutex};
    const auto returned = [&shared] { return shared.all_returned(); };
    if (shared.limited) {
        shared.ended.wait_for(lock, std::chrono::nanoseconds{limit_ns_}, returned);
    } else {
        shared.ended.wait(lock, returned);
    }
    for (auto& worker : shared.workers) {
        if (worker->ended) {
            lock.unlock();
            worker->thread.join();
            lock.lock();
        } else {
            worker->thread.detach();
        }
    }
    shared.done.clear();
}

}  // namespace strid::operators
