// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers;

import java.util.concurrent.locks.LockSupport;

/**
 * What one source emits of a {@link Run}: every n-th record where there are n sources. Used by one
 * thread.
 *
 * <p>At a rate, record i of all sources is due i / rate after the start, however late the ones
 * before it were taken: a job that falls behind shows it as latency (open loop).
 */
public final class Share<T> {
    /** Takes a record and when it was due (System.nanoTime); 0 where no latency is measured. */
    public interface Output<T> {
        void emit(T record, long dueNs);
    }

    private static final long NOT_STARTED = Long.MIN_VALUE;

    private final Run<T> run;
    private final Object[] records;
    private final Run.Again<T> again;
    private final Run.Plan plan;
    private final int sources;
    private final int first;
    private final double periodNs;

    private long startNs = NOT_STARTED;
    private int next;
    private long round;
    private long emitted;
    private boolean ended;

    Share(Run<T> run, Object[] records, Run.Again<T> again, Run.Plan plan, int source,
            int sources) {
        this.run = run;
        this.records = records;
        this.again = again;
        this.plan = plan;
        this.sources = sources;
        first = source;
        next = source;
        periodNs = plan.ratePerSecond() > 0 ? 1e9 / plan.ratePerSecond() : 0;
    }

    /**
     * Emits up to {@code limit} records, at a rate one; false at the end. Waits for the start of the
     * run, and at a rate until the record is due.
     */
    public boolean poll(int limit, Output<T> output) throws InterruptedException {
        if (ended) return false;
        if (startNs == NOT_STARTED) startNs = run.awaitStart();
        if (isOver()) {
            ended = true;
            run.sourceEnded(emitted);
            return false;
        }
        if (periodNs > 0) {
            long dueNs = startNs + Math.round((emitted * sources + first) * periodNs);
            waitUntil(dueNs);
            output.emit(take(), dueNs);
            return true;
        }
        for (int i = 0; i < limit && !(plan.once() && round > 0); ++i) output.emit(take(), 0);
        return true;
    }

    private boolean isOver() {
        return plan.once() ? round > 0 : System.nanoTime() - startNs >= plan.durationNs();
    }

    @SuppressWarnings("unchecked")
    private T take() {
        T record = (T) records[next];
        if (round > 0) record = again.of(record, round);
        next += sources;
        if (next >= records.length) {
            next = first;
            ++round;
        }
        ++emitted;
        return record;
    }

    private void waitUntil(long dueNs) {
        for (long left; (left = dueNs - System.nanoTime()) > 0; ) {
            if (plan.spins()) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(left);
            }
        }
    }
}
