package io.dispatchanalytics.collector.points;

import static net.bytebuddy.matcher.ElementMatchers.none;

import io.dispatchanalytics.collector.Collector;
import io.dispatchanalytics.collector.Notices;
import io.dispatchanalytics.collector.points.Point.Target;
import java.lang.instrument.Instrumentation;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.bytecode.StackManipulation;
import net.bytebuddy.implementation.bytecode.constant.TextConstant;
import net.bytebuddy.implementation.bytecode.member.MethodInvocation;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.utility.JavaModule;

/** Puts the hooks into the broker's classes as they are loaded, or into those that are loaded. */
public final class Weaver {
    private final List<Point> points;

    /** For these points. */
    public Weaver(List<Point> points) {
        this.points = points;
    }

    /** From now on. */
    public void install(Instrumentation instrumentation) {
        // Lambdas and anonymous classes are points, and synthetic: both of these ignore such by default.
        new AgentBuilder.Default(new ByteBuddy().ignore(none()))
                // Hooks go into methods that are there: no class gets a member, so a loaded one can be changed, too.
                .disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .with(new Faults())
                .ignore(none())
                .type((type, loader, module, loaded, domain) -> isTarget(type.getName()))
                .transform((builder, type, loader, module, domain) -> woven(builder, type))
                .installOn(instrumentation);
    }

    private boolean isTarget(String className) {
        return points.stream().anyMatch(point -> point.targets().stream().anyMatch(target -> target.isNamed(className)));
    }

    /** The class with the advice of every point that names it. */
    public DynamicType.Builder<?> woven(DynamicType.Builder<?> builder, TypeDescription type) {
        DynamicType.Builder<?> woven = builder;
        for (Point point : points) {
            for (Target target : point.targets()) {
                if (target.advice() != null && target.isNamed(type.getName()) && target.type().matches(type)) {
                    woven = woven.visit(Advice.to(target.advice()).withExceptionHandler(countedAs(point.name())).on(target.method()));
                }
            }
        }
        return woven;
    }

    /** What happens to an exception of a hook: it is counted and ends there. */
    private static Advice.ExceptionHandler countedAs(String point) {
        try {
            MethodDescription failed = new MethodDescription.ForLoadedMethod(
                    Collector.class.getMethod("failed", Throwable.class, String.class));
            return new Advice.ExceptionHandler.Simple(
                    new StackManipulation.Compound(new TextConstant(point), MethodInvocation.invoke(failed)));
        } catch (NoSuchMethodException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** A class that cannot be woven stays as it is. */
    private static final class Faults extends AgentBuilder.Listener.Adapter {
        @Override
        public void onError(String type, ClassLoader loader, JavaModule module, boolean loaded, Throwable fault) {
            Notices.print(type + " cannot be hooked, its events are missing: " + fault);
        }
    }
}
