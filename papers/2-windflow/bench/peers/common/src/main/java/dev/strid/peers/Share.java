// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.util.concurrent.locks.LockSupport;

/**
 * What one source emits of a {@link Run}: the records that are its own. Used by one thread.
 *
 * <p>At a rate, record i of all sources is due i / rate after the start, however late the ones
 * before it were taken: a job that falls behind shows it as latency (open loop). At a pace, records
 * are due at their own times; each source then has its copies of all records.
 */
public final class Share<T> {
    /** Takes a record and when it was due (System.nanoTime); 0 where no latency is measured. */
    public interface Output<T> {
        void emit(T record, long dueNs);
    }

    private static final long NOT_STARTED = Long.MIN_VALUE;

    /** A paced source that is so far behind has lost, and ends. */
    private static final long BEHIND_NS_MAX = 15_000_000_000L;

    private final Run<T> run;
    private final Object[] records;
    private final int[] numbers;
    private final int source;
    private final double periodNs;

    private long startNs = NOT_STARTED;
    private int next;
    private long round;
    private long emitted;
    private boolean ended;

    /** Emits those records; `numbers` are theirs among all records, in growing order. */
    Share(Run<T> run, Object[] records, int[] numbers, int source) {
        this.run = run;
        this.records = records;
        this.numbers = numbers;
        this.source = source;
        double rate = run.plan().ratePerSecond();
        periodNs = rate > 0 ? 1e9 / rate : 0;
    }

    /**
     * Emits up to {@code limit} records, at a rate or a pace one; false at the end. Waits for the
     * start of the run, and at a rate or a pace until the record is due.
     */
    public boolean poll(int limit, Output<T> output) throws InterruptedException {
        if (ended) return false;
        if (startNs == NOT_STARTED) startNs = run.awaitStart();
        if (isOver()) return end();
        if (run.plan().pace() > 0) return pollPaced(output);
        if (periodNs > 0) {
            long number = round * run.count() + numbers[next];
            long dueNs = startNs + Math.round(number * periodNs);
            waitUntil(dueNs);
            output.emit(take(), dueNs);
            return true;
        }
        for (int i = 0; i < limit && !(run.plan().once() && round > 0); ++i) {
            output.emit(take(), 0);
        }
        return true;
    }

    /** This source's copies of the next record. */
    @SuppressWarnings("unchecked")
    private boolean pollPaced(Output<T> output) throws InterruptedException {
        Run.Pace<T> pace = run.pace();
        T record = (T) records[next++];
        double seconds = pace.seconds(record) - pace.seconds((T) records[0]);
        long dueNs = startNs + Math.round(seconds * 1e9 / run.plan().pace());
        waitUntil(dueNs);
        if (System.nanoTime() - dueNs > BEHIND_NS_MAX) return end();
        for (int copy = source; copy < pace.copies(); copy += run.sources()) {
            output.emit(pace.copy(record, copy), dueNs);
            ++emitted;
        }
        if (next == records.length) ++round;
        return true;
    }

    private boolean end() {
        ended = true;
        run.sourceEnded(emitted);
        return false;
    }

    private boolean isOver() {
        if (records.length == 0) return true;
        Run.Plan plan = run.plan();
        if (plan.once() || plan.pace() > 0) return round > 0;
        return System.nanoTime() - startNs >= plan.durationNs();
    }

    @SuppressWarnings("unchecked")
    private T take() {
        T record = (T) records[next];
        if (round > 0) record = run.again(record, round);
        if (++next == records.length) {
            next = 0;
            ++round;
        }
        ++emitted;
        return record;
    }

    private void waitUntil(long dueNs) {
        for (long left; (left = dueNs - System.nanoTime()) > 0; ) {
            if (run.plan().spins()) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(left);
            }
        }
    }
}
