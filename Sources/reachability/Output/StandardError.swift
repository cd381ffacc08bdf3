import Glibc

/// Diagnostics, one line at a time.
enum StandardError {
    static func write(_ line: String) {
        // Nobody is left to tell when even this fails.
        _ = try? Descriptor.write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }
}
