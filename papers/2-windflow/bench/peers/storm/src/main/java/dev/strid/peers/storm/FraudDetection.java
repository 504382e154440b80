// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.storm;

import dev.strid.peers.MarkovModel;
import dev.strid.peers.Options;
import dev.strid.peers.Outlier;
import dev.strid.peers.Scorer;
import dev.strid.peers.Transaction;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The rules of fraud-detection. */
final class FraudDetection implements Application<Transaction> {
    @Override
    public String name() {
        return "fraud-detection";
    }

    @Override
    public List<Transaction> read(Path input, Options options) {
        return Transaction.read(input, new MarkovModel(options.file("model")));
    }

    @Override
    public List<Stage<?, ?>> stages(Options options) {
        return List.of(new Predict(new Scorer(new MarkovModel(options.file("model")), options)));
    }

    @Override
    public String row(Object result) {
        return ((Outlier) result).row();
    }

    private static final class Predict implements Stage<Transaction, Outlier> {
        private final Scorer scorer;
        private final Map<String, Scorer.Sequence> sequences = new HashMap<>();

        Predict(Scorer scorer) {
            this.scorer = scorer;
        }

        @Override
        public Object key(Transaction transaction) {
            return transaction.account;
        }

        @Override
        public void process(Transaction transaction, Consumer<Outlier> output) {
            var sequence = sequences.computeIfAbsent(
                    transaction.account, account -> new Scorer.Sequence());
            double score = scorer.score(sequence, transaction.state);
            if (!Double.isNaN(score)) {
                output.accept(new Outlier(transaction.account, transaction.transaction, score));
            }
        }
    }
}
