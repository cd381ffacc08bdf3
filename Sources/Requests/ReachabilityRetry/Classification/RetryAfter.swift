/// The header field Retry-After (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// How long a value asks to wait.
    ///
    /// - Parameters:
    ///   - value: Seconds, or an HTTP date in any of the three formats (RFC 9110, section 5.6.7).
    ///   - now: The time in seconds since 1970 (UTC) to count a date from: best that of the answer's own Date field, so that
    ///     clocks that disagree do no harm.
    /// - Returns: The wait, zero for a date that has passed; nil for what is neither seconds nor a date.
    public static func wait(_ value: String, now: Int64) -> Duration? {
        let text = value.split(separator: Character(" ")).joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // What does not fit is longer than any cap.
            return .seconds(min(Int64(text) ?? .max, longest))
        }
        guard let time = HTTPDate.secondsSince1970(text, now: now) else { return nil }
        return .seconds(min(max(0, time - now), longest))
    }

    /// A hundred years.
    private static let longest: Int64 = 100 * 366 * 86400
}
