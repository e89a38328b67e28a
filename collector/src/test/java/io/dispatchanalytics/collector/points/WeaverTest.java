package io.dispatchanalytics.collector.points;

import static net.bytebuddy.matcher.ElementMatchers.none;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.points.Point.Target;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.dynamic.scaffold.TypeValidation;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.ClassVisitor;
import net.bytebuddy.jar.asm.MethodVisitor;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.pool.TypePool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The points against the class files of the broker that the hooks are compiled against. */
class WeaverTest {
    private static final ClassFileLocator FILES = ClassFileLocator.ForClassLoader.of(WeaverTest.class.getClassLoader());
    private static final TypePool TYPES = TypePool.Default.WithLazyResolution.of(FILES);
    /** Classes of other projects, which methods and fields name, are not here: empty ones stand in their place. */
    private static final ClassFileLocator FILES_AND_EMPTY_ONES = new ClassFileLocator() {
        @Override
        public Resolution locate(String name) throws IOException {
            Resolution found = FILES.locate(name);
            return found.isResolved() || name.startsWith("io.dispatchanalytics") ? found
                    : new Resolution.Explicit(new ByteBuddy().subclass(Object.class).name(name).make().getBytes());
        }

        @Override
        public void close() { }
    };
    private static final String FAILED = Collector.class.getName().replace('.', '/');

    static Stream<Point> points() {
        return Points.allAndRunning().stream();
    }

    @ParameterizedTest
    @MethodSource("points")
    void everyTargetIsInThisBroker(Point point) {
        for (PointCheck.Found found : new PointCheck(FILES).of(point)) {
            // These two have another form in older brokers, which this one lacks.
            boolean ofOlderBrokers = found.target().className().endsWith(".DispatchRateLimiter")
                    || point.name().equals("ledger_close") && found.target() == point.targets().get(1);
            assertEquals(ofOlderBrokers, found.methods() == 0, found.target().className());
        }
    }

    /** What the woven class calls: the handlers of its points, and the count of their failures. */
    @ParameterizedTest
    @MethodSource("points")
    void everyMethodFoundIsWovenAndItsFailuresCounted(Point point) throws IOException {
        for (Target target : point.targets()) {
            for (TypeDescription type : typesOf(target)) {
                Calls calls = calls(woven(type, List.of(point)));
                int methods = target.advice() == null ? 0 : target.methodsIn(type);
                assertTrue(calls.failures.size() >= methods, type + " counts in " + calls.failures);
                assertEquals(methods == 0 ? Set.of() : Set.of(point.name()), calls.names, type.toString());
            }
        }
    }

    private static List<TypeDescription> typesOf(Target target) {
        TypePool types = TypePool.Default.WithLazyResolution.of(FILES_AND_EMPTY_ONES);
        Stream<String> names = target.hasAnonymous()
                ? Stream.iterate(1, number -> number + 1).map(number -> target.outer() + "$" + number)
                        .takeWhile(name -> TYPES.describe(name).isResolved())
                : Stream.of(target.className()).filter(name -> TYPES.describe(name).isResolved());
        return names.map(name -> types.describe(name).resolve()).filter(type -> target.methodsIn(type) > 0).toList();
    }

    private static byte[] woven(TypeDescription type, List<Point> points) {
        ByteBuddy weaving = new ByteBuddy().with(TypeValidation.DISABLED).ignore(none());
        return new Weaver(points).woven(weaving.redefine(type, FILES_AND_EMPTY_ONES), type).make().getBytes();
    }


    /** Methods that call Collector.failed, and the names of points that are constants in them. */
    private record Calls(Set<String> failures, Set<String> names) { }

    private static Calls calls(byte[] classFile) {
        Calls calls = new Calls(new TreeSet<>(), new TreeSet<>());
        new ClassReader(classFile).accept(new ClassVisitor(Opcodes.ASM9) {
            @Override
            public MethodVisitor visitMethod(int access, String method, String descriptor, String signature, String[] exceptions) {
                return new MethodVisitor(Opcodes.ASM9) {
                    private Object constant;

                    @Override
                    public void visitLdcInsn(Object value) {
                        constant = value;
                    }

                    @Override
                    public void visitMethodInsn(int opcode, String owner, String name, String arguments, boolean isInterface) {
                        if (owner.equals(FAILED) && name.equals("failed")) {
                            calls.failures.add(method + descriptor);
                            calls.names.add((String) constant);
                        }
                    }
                };
            }
        }, 0);
        return calls;
    }

    @Test
    void aBrokerWithoutAClassLacksItsPoints() {
        ClassFileLocator without = new ClassFileLocator() {
            @Override
            public Resolution locate(String name) throws IOException {
                return name.contains("ServerCnxThrottleTracker") || name.endsWith("ClassicImpl") || name.contains("ManagedCursorImpl$")
                        ? new Resolution.Illegal(name) : FILES.locate(name);
            }

            @Override
            public void close() { }
        };
        assertEquals(List.of("mark_delete_reset", "throttle"), new PointCheck(without).missing(Points.all()));
        assertEquals(List.of(), new PointCheck(FILES).missing(Points.all()));
    }

    @Test
    void namesOfPointsAreUnique() {
        assertEquals(Points.allAndRunning().size(), Points.allAndRunning().stream().map(Point::name).distinct().count());
        assertFalse(Points.all().isEmpty());
    }
}
