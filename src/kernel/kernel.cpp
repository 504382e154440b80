// SPDX-License-Identifier: Apache-2.0
#include <new>

#include <strid/engine/kernel/kernel.hpp>

namespace strid::operators {

void rethrow_as(const std::string& operator_name, bool fans_out) {
    try {
        throw;
    } catch (const OperatorError&) {
        throw;
    } catch (const Interrupted&) {
        throw;
    } catch (const FanOutError& cause) {
        if (!fans_out) throw;
        throw OperatorError(operator_name, cause.what(), std::current_exception());
    } catch (const std::bad_alloc&) {
        throw OperatorError(operator_name, "out of memory", std::current_exception());
    } catch (const std::exception& cause) {
        throw OperatorError(operator_name, cause.what(), std::current_exception());
    } catch (...) {
        throw OperatorError(operator_name, "threw something that is not a std::exception",
                            std::current_exception());
    }
}

bool Skipping::take_in() noexcept {
    try {
        throw;
    } catch (const SkipRecord&) {
    } catch (const OperatorError&) {
        return false;
    } catch (const FanOutError&) {
        return false;
    } catch (const std::bad_alloc&) {
        return false;  // possibly of the output
    } catch (...) {
        if (!wanted) return false;
    }
    ++count;
    return true;
}

}  // namespace strid::operators
