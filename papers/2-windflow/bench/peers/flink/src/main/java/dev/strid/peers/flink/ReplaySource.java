// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink;

import dev.strid.peers.Run;
import dev.strid.peers.Share;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource.NumberSequenceSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Emits the records of the current {@link Run}; each reader its share. Readers know their share by
 * their index and need no splits: Flink's sequence of numbers stands in for them, unread.
 *
 * <p>With a rate, the timestamp of a record is when it was due, by System.nanoTime.
 */
final class ReplaySource<T> implements Source<T, NumberSequenceSplit,
        Collection<NumberSequenceSplit>> {
    /** As many as hide the cost of a poll: Flink looks for other work of the task between polls. */
    private static final int RECORDS_A_POLL = 256;

    private final NumberSequenceSource unread = new NumberSequenceSource(0, 0);

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SourceReader<T, NumberSequenceSplit> createReader(SourceReaderContext context) {
        return new Reader<>(Run.<T>current().share(context.getIndexOfSubtask()));
    }

    @Override
    public SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> createEnumerator(
            SplitEnumeratorContext<NumberSequenceSplit> context) {
        return unread.createEnumerator(context);
    }

    @Override
    public SplitEnumerator<NumberSequenceSplit, Collection<NumberSequenceSplit>> restoreEnumerator(
            SplitEnumeratorContext<NumberSequenceSplit> context,
            Collection<NumberSequenceSplit> checkpoint) {
        return unread.restoreEnumerator(context, checkpoint);
    }

    @Override
    public SimpleVersionedSerializer<NumberSequenceSplit> getSplitSerializer() {
        return unread.getSplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<Collection<NumberSequenceSplit>>
            getEnumeratorCheckpointSerializer() {
        return unread.getEnumeratorCheckpointSerializer();
    }

    private static final class Reader<T> implements SourceReader<T, NumberSequenceSplit> {
        private final Share<T> share;

        Reader(Share<T> share) {
            this.share = share;
        }

        @Override
        public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
            boolean more = share.poll(RECORDS_A_POLL, (record, dueNs) -> {
                if (dueNs == 0) {
                    output.collect(record);
                } else {
                    output.collect(record, dueNs);
                }
            });
            return more ? InputStatus.MORE_AVAILABLE : InputStatus.END_OF_INPUT;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void start() {}

        @Override
        public List<NumberSequenceSplit> snapshotState(long checkpoint) {
            return List.of();
        }

        @Override
        public void addSplits(List<NumberSequenceSplit> splits) {}

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {}
    }
}
