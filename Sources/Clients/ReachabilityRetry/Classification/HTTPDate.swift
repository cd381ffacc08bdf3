import LinuxSupport

/// HTTP dates (RFC 9110, section 5.6.7), without Foundation.
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994`.
    ///
    /// - Parameters:
    ///   - text: The date, its words separated by single blanks.
    ///   - now: The time a year of two digits is near to: at most 50 years after it.
    package static func secondsSince1970(_ text: String, now: Int64) -> Int64? {
        var words = text.split(at: " ").map(String.init)
        // The name of the day says nothing that the date does not.
        guard words.count > 1 else { return nil }
        words.removeFirst()
        switch words.count {
        case 5 where words[4] == "GMT":
            return seconds(day: words[0], month: words[1], year: words[2], time: words[3])
        case 3 where words[2] == "GMT":
            let parts = words[0].split(at: "-").map(String.init)
            guard parts.count == 3, let short = Int64(parts[2]), (0...99).contains(short) else { return nil }
            return seconds(day: parts[0], month: parts[1], year: String(year(short, near: now)), time: words[1])
        case 4:
            return seconds(day: words[1], month: words[0], year: words[3], time: words[2])
        default:
            return nil
        }
    }

    private static func seconds(day: String, month: String, year: String, time: String) -> Int64? {
        let clock = time.split(at: ":", omittingEmptySubsequences: false).map { Int64($0) ?? -1 }
        guard let day = Int64(day), (1...31).contains(day), let month = months.firstIndex(of: month),
            let year = Int64(year), (1601...9999).contains(year), clock.count == 3,
            (0...23).contains(clock[0]), (0...59).contains(clock[1]), (0...60).contains(clock[2])
        else { return nil }
        let days = daysSince1970(year: year, month: Int64(month) + 1, day: day)
        return days * 86400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }

    private static func year(_ short: Int64, near now: Int64) -> Int64 {
        // The mean length of a year is near enough: what is decided is the century.
        let current = 1970 + now / 31_556_952
        let year = current - current % 100 + short
        return year > current + 50 ? year - 100 : year
    }

    /// The Gregorian calendar in years that begin with March, so that a leap day comes last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}

/// The header field Retry-After (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// How long a value asks to wait.
    ///
    /// - Parameters:
    ///   - value: Seconds, or an HTTP date in any of the three formats (RFC 9110, section 5.6.7).
    ///   - now: The time in seconds since 1970 (UTC) to count a date from: best that of the answer's own Date field, so that
    ///     clocks that disagree do no harm.
    ///     Some servers send a fraction of a second, which RFC 9110 does not have.
    /// - Returns: The wait, zero for a date that has passed; nil for what is neither seconds nor a date.
    public static func wait(_ value: String, now: Int64) -> Duration? {
        let text = value.split(at: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // What does not fit is longer than any cap.
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
        // Thousandths, rounded up.
        let digits = parts[1].prefix(3).map { Int64($0 - 0x30) } + [0, 0]
        let thousandths = digits.prefix(3).reduce(0) { $0 * 10 + $1 }
        return .seconds(seconds) + .milliseconds(thousandths + (parts[1].dropFirst(3).contains { $0 != 0x30 } ? 1 : 0))
    }

    /// A hundred years.
    private static let longest: Int64 = 100 * 366 * 86400
}
