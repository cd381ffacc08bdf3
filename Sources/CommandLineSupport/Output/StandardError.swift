import Glibc

/// Diagnostics, one line at a time.
package enum StandardError {
    package static func write(_ line: String) {
        // Nobody is left to tell when even this fails.
        _ = try? StandardStream.write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }
}
