package io.dispatchanalytics.collector.points;

import io.dispatchanalytics.collector.points.Point.Target;
import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.dynamic.ClassFileLocator;
import net.bytebuddy.pool.TypePool;

/** Which points a broker has. It reads class files and loads nothing: a class that is loaded too early is not woven. */
public final class PointCheck {
    /** An anonymous class has a number; the numbers have no gaps. */
    private static final int MOST_ANONYMOUS = 1_000;

    private final TypePool types;

    /** Looks into these class files. */
    public PointCheck(ClassFileLocator classFiles) {
        // Lazily: the classes that a method's arguments are of may lie elsewhere.
        types = TypePool.Default.WithLazyResolution.of(classFiles);
    }

    /** A target and how many methods were found for it. */
    public record Found(Target target, int methods) { }

    /** What was found for each target of a point. */
    public List<Found> of(Point point) {
        return point.targets().stream().map(target -> new Found(target, methods(target))).toList();
    }

    /** Names of the points that lack something. */
    public List<String> missing(List<Point> points) {
        List<String> missing = new ArrayList<>();
        for (Point point : points) {
            if (!isWhole(of(point))) {
                missing.add(point.name());
            }
        }
        return missing;
    }

    /** Whether everything that must be there is, and anything at all. */
    public static boolean isWhole(List<Found> found) {
        return found.stream().allMatch(each -> each.methods > 0 || each.target.optional()) && found.stream().anyMatch(each -> each.methods > 0);
    }

    private int methods(Target target) {
        if (!target.hasAnonymous()) {
            return methods(target, target.className());
        }
        int sum = 0;
        for (int number = 1; number <= MOST_ANONYMOUS && types.describe(target.outer() + "$" + number).isResolved(); number++) {
            sum += methods(target, target.outer() + "$" + number);
        }
        return sum;
    }

    private int methods(Target target, String className) {
        TypePool.Resolution found = types.describe(className);
        return found.isResolved() ? target.methodsIn(found.resolve()) : 0;
    }
}
