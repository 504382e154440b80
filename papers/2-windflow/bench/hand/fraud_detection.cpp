// SPDX-License-Identifier: Apache-2.0
//
// hand_fraud_detection INPUT --model MODEL [--duration SECONDS]: the rate of the hand-written fraud
// detection. With --once [--output FILE]: the answer of one pass.
#include "fraud_detection.hpp"

#include <cstdio>
#include <ostream>

#include <fmt/format.h>

#include "bench/hand/options.hpp"

namespace {

using namespace strid::bench::hand;

void run(const Options& options) {
    const MarkovModel model(options.model);
    const FraudDetectionInput input(options.input, model);
    if (options.once) {
        write_output(options.output, [&](std::ostream& stream) {
            FraudDetector detector(model);
            for (const Transaction& record : input.transactions) {
                detector.add(record, [&](const Outlier& outlier) {
                    stream << fmt::format("{},{},{}\n", outlier.account, outlier.transaction,
                                          outlier.score);
                });
            }
        });
        return;
    }
    const FraudDetectionResult result = run_fraud_detection(input, model, options.duration);
    std::printf("fraud detection %8.2f M records/s, %.2f%% outliers\n",
                result.records_per_second() / 1e6,
                100.0 * static_cast<double>(result.outliers) / static_cast<double>(result.records));
}

}  // namespace

int main(int argc, char** argv) {
    return run_main(argc, argv, run);
}
