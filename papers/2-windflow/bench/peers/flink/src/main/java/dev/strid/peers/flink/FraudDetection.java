// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.MarkovModel;
import dev.strid.peers.Options;
import dev.strid.peers.Outlier;
import dev.strid.peers.Scorer;
import dev.strid.peers.Transaction;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichFlatMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.util.Collector;

/** The rules of fraud-detection. */
final class FraudDetection implements Application<Transaction, Outlier> {
    @Override
    public String name() {
        return "fraud-detection";
    }

    @Override
    public TypeInformation<Transaction> recordType() {
        return TypeInformation.of(Transaction.class);
    }

    @Override
    public List<Transaction> read(Path input, Options options) {
        return Transaction.read(input, new MarkovModel(options.file("model")));
    }

    @Override
    public DataStream<Outlier> build(DataStream<Transaction> transactions, Options options) {
        MarkovModel model = new MarkovModel(options.file("model"));
        return transactions
                .keyBy(transaction -> transaction.account)
                .flatMap(new Predict(new Scorer(model, options)));
    }

    @Override
    public String row(Outlier outlier) {
        return outlier.row();
    }

    private static final class Predict extends RichFlatMapFunction<Transaction, Outlier> {
        private final Scorer scorer;
        private transient ValueState<Scorer.Sequence> sequences;

        Predict(Scorer scorer) {
            this.scorer = scorer;
        }

        @Override
        public void open(OpenContext context) {
            sequences = getRuntimeContext().getState(
                    new ValueStateDescriptor<>("sequence", Scorer.Sequence.class));
        }

        @Override
        public void flatMap(Transaction transaction, Collector<Outlier> output) throws Exception {
            Scorer.Sequence sequence = sequences.value();
            if (sequence == null) {
                sequence = new Scorer.Sequence();
                sequences.update(sequence);  // the heap keeps this object: changed in place
            }
            double score = scorer.score(sequence, transaction.state);
            if (score == score) {
                output.collect(new Outlier(transaction.account, transaction.transaction, score));
            }
        }
    }
}
