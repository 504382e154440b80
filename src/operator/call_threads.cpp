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

struct CallThreads::Shared {
    struct Worker {
        std::thread thread;
        std::shared_ptr<ThreadedCall> call;  // guarded: in its hands
        bool ended = false;                  // guarded
    };

    void run(Worker& self, std::size_t number) {
        // 15 characters are the most.
        ::pthread_setname_np(::pthread_self(), ("strid-call-" + std::to_string(number)).c_str());
        std::unique_lock lock{mutex};
        while (true) {
            work.wait(lock, [this] { return ending || !queue.empty(); });
            if (queue.empty()) break;
            std::shared_ptr<ThreadedCall> call = std::move(queue.front());
            queue.pop_front();
            self.call = call;
            lock.unlock();
            call->make(call->stop_.get_token());
            lock.lock();
            self.call.reset();
            ++free;
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
    std::condition_variable work;
    std::condition_variable ended;
    std::deque<std::shared_ptr<ThreadedCall>> queue;  // guarded, and all below
    std::vector<std::shared_ptr<ThreadedCall>> done;
    std::vector<std::unique_ptr<Worker>> workers;
    std::ptrdiff_t free = 0;  // threads without a call, less the calls in the queue
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
    return shared_->free > 0 || shared_->workers.size() < shared_->workers_max;
}

void CallThreads::begin(std::shared_ptr<ThreadedCall> call) {
    const std::lock_guard lock{shared_->mutex};
    Shared& shared = *shared_;
    auto& workers = shared.workers;
    if (shared.free <= 0 && workers.size() < shared.workers_max) {
        workers.push_back(std::make_unique<Shared::Worker>());
        Shared::Worker& self = *workers.back();
        const std::size_t number = workers.size() - 1;
        try {
            self.thread =
                std::thread([shared = shared_, &self, number] { shared->run(self, number); });
            ++shared.free;
        } catch (const std::system_error& error) {
            workers.pop_back();
            if (workers.empty()) {
                throw Error(std::string("no thread could be made for its calls: ") + error.what());
            }
            shared.workers_max = workers.size();  // the call waits for one of them
        }
    }
    --shared.free;
    shared.queue.push_back(std::move(call));
    shared.work.notify_one();
}

void CallThreads::give_up(ThreadedCall& call) {
    {
        const std::lock_guard lock{shared_->mutex};
        call.given_up_ = true;
        const auto waits = std::ranges::find_if(
            shared_->queue, [&call](const auto& waiting) { return waiting.get() == &call; });
        if (waits != shared_->queue.end()) {  // its thread was busy all the time
            shared_->queue.erase(waits);
            ++shared_->free;
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
        shared.work.notify_all();
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
