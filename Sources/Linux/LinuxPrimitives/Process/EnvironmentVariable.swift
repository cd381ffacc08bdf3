import Glibc

/// The variables this process was started with.
///
/// C counterpart: `getenv(3)`.
package enum EnvironmentVariable {
    /// Nil when it is not set; an empty one counts as not set.
    package static func value(of name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}
