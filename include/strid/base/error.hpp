// SPDX-License-Identifier: Apache-2.0
//
// Every exception that the library throws: while a graph is built, and from `run()`. On the path of
// a record only user code throws, and its exceptions are wrapped here.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace strid {

/// Base of every error of the library; `what()` is one sentence for the user.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The graph as described cannot be run: a duplicate name, a parallelism of 0, an unused stream.
class GraphError : public Error {
  public:
    using Error::Error;
};

/// An input or an output failed: a missing file, a malformed line, a full disk, a closed pipe.
class InputOutputError : public Error {
  public:
    using Error::Error;
};

/// For a function of an operator to throw when it cannot process a record. The record is dropped
/// and counted as skipped, whatever the operator's `on_exception` is. Map, filter, flat_map,
/// accumulate, reduce, process and sinks may throw it; elsewhere it ends the run.
class SkipRecord : public Error {
  public:
    /// Without a reason: skipped records are counted, not listed.
    SkipRecord() : Error("SkipRecord was thrown where no record can be left out") {}
};

/// User code threw inside an operator. Names the operator and carries the original exception.
class OperatorError : public Error {
  public:
    /// `message` says what was thrown; `cause` is the exception itself.
    OperatorError(std::string operator_name, const std::string& message, std::exception_ptr cause)
        : Error("operator '" + operator_name + "': " + message),
          operator_name_(std::move(operator_name)),
          cause_(std::move(cause)) {}

    /// The operator's name in the graph.
    [[nodiscard]] const std::string& operator_name() const noexcept { return operator_name_; }
    /// The exception that user code threw; std::rethrow_exception() gives its type back.
    [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

  private:
    std::string operator_name_;
    std::exception_ptr cause_;
};

/// Thrown when a wait outside the engine (for the reader of a pipe, say) is given up because the
/// run was cancelled or has failed. The engine treats it as the end and never passes it on.
class Interrupted : public std::exception {
  public:
    /// A fixed text.
    [[nodiscard]] const char* what() const noexcept override { return "the run has ended"; }
};

}  // namespace strid
