// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;

/** A watermark for each second of the input, at its first event: no balance waits for a clock. */
public class SecondWatermarks implements WatermarkGenerator<Event> {
    private long latest = Long.MIN_VALUE;

    @Override
    public void onEvent(Event event, long timestamp, WatermarkOutput output) {
        long timeMs = event.time() * 1000L;
        if (timeMs <= latest) return;
        latest = timeMs;
        output.emitWatermark(new Watermark(timeMs - 1));
    }

    @Override
    public void onPeriodicEmit(WatermarkOutput output) {}
}
