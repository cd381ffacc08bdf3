import LinuxSupport

/// The header field Retry-After (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// Returns the pause that a value requests.
    ///
    /// - Parameters:
    ///   - value: A number of seconds, or an HTTP date in any of the three formats (RFC 9110, section 5.6.7). A
    ///     fraction of a second is accepted, because some servers send one.
    ///   - now: The time in seconds since 1970 (UTC) from which a date is counted. Use the field Date of the response
    ///     if there is one, because the clocks of client and server may differ.
    /// - Returns: The pause, zero for a date in the past; nil if the value is neither seconds nor a date.
    public static func wait(_ value: String, now: Int64) -> Duration? {
        let text = value.split(at: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number that does not fit into Int64 is longer than any cap.
            return .seconds(min(Int64(text) ?? .max, longest))
        }
        if let wait = fractional(text) { return wait }
        guard let time = HTTPDate.secondsSince1970(text, now: now) else { return nil }
        return .seconds(min(max(0, time - now), longest))
    }

    private static func fractional(_ text: String) -> Duration? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return nil
        }
        let seconds = min(Int64(String(Substring(parts[0]))) ?? .max, longest)
        // Milliseconds, rounded up.
        let digits = parts[1].prefix(3).map { Int64($0 - 0x30) } + [0, 0]
        let thousandths = digits.prefix(3).reduce(0) { $0 * 10 + $1 }
        return .seconds(seconds) + .milliseconds(thousandths + (parts[1].dropFirst(3).contains { $0 != 0x30 } ? 1 : 0))
    }

    /// The maximum pause in seconds: a hundred years.
    private static let longest: Int64 = 100 * 366 * 86400
}
