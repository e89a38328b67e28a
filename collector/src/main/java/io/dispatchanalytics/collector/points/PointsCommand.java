package io.dispatchanalytics.collector.points;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import net.bytebuddy.dynamic.ClassFileLocator;

/** `java -jar dispatch-collector.jar LIB`: which points the broker whose jars lie in the folder LIB has. */
public final class PointsCommand {
    private static final int DONE = 0;
    private static final int SOME_MISSING = 1;
    private static final int BAD_ARGUMENTS = 2;

    private PointsCommand() { }

    /** Ends with 0: all are there; 1: some are missing; 2: bad arguments. */
    public static void main(String[] arguments) throws IOException {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) throws IOException {
        if (arguments.length != 1 || !Files.isDirectory(Path.of(arguments[0]))) {
            System.err.println("error: expected one argument, the folder of a broker's jars: /pulsar/lib");
            return BAD_ARGUMENTS;
        }
        List<Path> jars = new ArrayList<>();
        for (String artifact : List.of("pulsar-broker", "managed-ledger")) {
            List<Path> found = jars(Path.of(arguments[0]), artifact);
            if (found.isEmpty()) {
                System.err.println("error: " + arguments[0] + " is no folder of a broker's jars: it has no " + artifact + "-VERSION.jar");
                return BAD_ARGUMENTS;
            }
            jars.addAll(found);
        }
        return report(new PointCheck(locator(jars)));
    }

    private static List<Path> jars(Path folder, String artifact) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(path -> path.getFileName().toString().matches("(.*[.-])?" + artifact + "-\\d.*\\.jar")).sorted().toList();
        }
    }

    private static ClassFileLocator locator(List<Path> jars) throws IOException {
        List<ClassFileLocator> locators = new ArrayList<>();
        for (Path jar : jars) {
            locators.add(ClassFileLocator.ForJarFile.of(jar.toFile()));
        }
        return new ClassFileLocator.Compound(locators);
    }

    private static int report(PointCheck check) {
        int missing = 0;
        for (Point point : Points.all()) {
            List<PointCheck.Found> found = check.of(point);
            boolean whole = PointCheck.isWhole(found);
            missing += whole ? 0 : 1;
            System.out.printf("%-8s %-24s %s%n", whole ? "found" : "MISSING", point.name(), String.join(", ", point.events()));
            if (!whole) {
                found.stream().filter(each -> each.methods() == 0).forEach(each -> System.out.println("           not in " + each.target().className()));
            }
        }
        System.out.printf("%d of %d points found%n", Points.all().size() - missing, Points.all().size());
        return missing == 0 ? DONE : SOME_MISSING;
    }
}
