import Glibc
import LinuxPrimitives

/// Diagnostics, one line at a time. They quote arguments, files and what servers said: what would steer a terminal is shown instead of
/// sent to it.
package enum StandardError {
    package static func write(_ line: String) {
        // Nobody is left to tell when even this fails.
        _ = try? StandardStream.write(Array((line.printableLines + "\n").utf8), to: STDERR_FILENO)
    }
}
