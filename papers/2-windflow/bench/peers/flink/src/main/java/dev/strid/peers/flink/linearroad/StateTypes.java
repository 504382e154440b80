// SPDX-License-Identifier: Apache-2.0
package dev.strid.peers.flink.linearroad;

import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInfoFactory;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.ListTypeInfo;
import org.apache.flink.api.java.typeutils.MapTypeInfo;

/** Types of the collections in the state, which Flink 1.20 would leave to Kryo. */
final class StateTypes {
    private StateTypes() {}

    /** Of Map<Integer, Road.Car>. */
    public static class Cars extends TypeInfoFactory<Map<Integer, Road.Car>> {
        @Override
        public TypeInformation<Map<Integer, Road.Car>> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> parameters) {
            return new MapTypeInfo<>(Integer.class, Road.Car.class);
        }
    }

    /** Of Map<Integer, Boolean>. */
    public static class Flags extends TypeInfoFactory<Map<Integer, Boolean>> {
        @Override
        public TypeInformation<Map<Integer, Boolean>> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> parameters) {
            return new MapTypeInfo<>(Integer.class, Boolean.class);
        }
    }

    /** Of Map<Long, Integer>. */
    public static class Counts extends TypeInfoFactory<Map<Long, Integer>> {
        @Override
        public TypeInformation<Map<Long, Integer>> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> parameters) {
            return new MapTypeInfo<>(Long.class, Integer.class);
        }
    }

    /** Of List<Charge>. */
    public static class Charges extends TypeInfoFactory<List<Charge>> {
        @Override
        public TypeInformation<List<Charge>> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> parameters) {
            return new ListTypeInfo<>(TypeInformation.of(Charge.class));
        }
    }

    /** Of List<Question>. */
    public static class Questions extends TypeInfoFactory<List<Question>> {
        @Override
        public TypeInformation<List<Question>> createTypeInfo(
                Type type, Map<String, TypeInformation<?>> parameters) {
            return new ListTypeInfo<>(TypeInformation.of(Question.class));
        }
    }
}
