package io.dispatchanalytics.collector.points;

import java.util.List;
import net.bytebuddy.description.method.MethodDescription;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.matcher.ElementMatcher;

/**
 * A place in the broker where the collector looks. What its hooks see becomes events of these types.
 *
 * @param name in `missing_points`, messages and docs
 * @param events types of the log that lack something without this point
 * @param targets where the hooks go
 */
public record Point(String name, List<String> events, List<Target> targets) {

    /**
     * Methods of one class, and the advice for them.
     *
     * @param className full name; with `$*` behind it: its anonymous classes
     * @param optional a broker has it, or has what stands in its place
     */
    public record Target(String className, ElementMatcher<? super TypeDescription> type, ElementMatcher<? super MethodDescription> method,
            Class<?> advice, boolean optional) {
        private static final String ANONYMOUS = "$*";

        /** Whether the name of a class fits. */
        boolean isNamed(String name) {
            if (!hasAnonymous()) {
                return name.equals(className);
            }
            String prefix = outer() + "$";
            return name.startsWith(prefix) && name.substring(prefix.length()).matches("\\d+");
        }

        boolean hasAnonymous() {
            return className.endsWith(ANONYMOUS);
        }

        String outer() {
            return hasAnonymous() ? className.substring(0, className.length() - ANONYMOUS.length()) : className;
        }

        /** How many methods of this class get the advice. */
        int methodsIn(TypeDescription found) {
            return type.matches(found) ? (int) found.getDeclaredMethods().stream().filter(method::matches).count() : 0;
        }
    }
}
