import Glibc

/// The moment a line is written.
package struct Timestamp {
    /// Nanoseconds of CLOCK_MONOTONIC, for comparing with other clocks of the machine.
    package let monotonicNanoseconds: Int64
    private let seconds: Int64
    private let milliseconds: Int64

    package init() {
        let real = Self.read(CLOCK_REALTIME)
        seconds = Int64(real.tv_sec)
        milliseconds = Int64(real.tv_nsec) / 1_000_000
        let monotonic = Self.read(CLOCK_MONOTONIC)
        monotonicNanoseconds = Int64(monotonic.tv_sec) * 1_000_000_000 + Int64(monotonic.tv_nsec)
    }

    /// Another moment: since 1970, and on CLOCK_MONOTONIC, where that is known. RFC 3339 has the years 0000 to 9999: a time
    /// outside them becomes the nearest within.
    package init(real: Duration, monotonic: Duration = .zero) {
        let (whole, part) = real.components
        // Before 1970 both are negative.
        let second = part < 0 && whole > .min ? whole - 1 : whole
        seconds = min(max(second, Self.earliest), Self.latest)
        milliseconds = (part < 0 ? part + 1_000_000_000_000_000_000 : part) / 1_000_000_000_000_000
        monotonicNanoseconds = monotonic.nanoseconds
    }

    /// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds since 1970.
    private static let earliest: Int64 = -62_167_219_200
    package static let latest: Int64 = 253_402_300_799

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        _ = clock_gettime(clock, &time)
        return time
    }

    /// UTC with milliseconds, for example `2026-11-21T08:15:30.123Z` (RFC 3339).
    package var text: String {
        var text: [UInt8] = []
        append(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Adds the same as UTF-8.
    func append(to text: inout [UInt8]) {
        let days = seconds.floored(by: 86400)
        let second = seconds - days * 86400
        let date = CivilDate(daysSince1970: days)
        text.append(addingCapacity: 24) { output in
            output.append(date.year, unit: 1000, then: "-")
            output.append(date.month, unit: 10, then: "-")
            output.append(date.day, unit: 10, then: "T")
            output.append(second / 3600, unit: 10, then: ":")
            output.append(second / 60 % 60, unit: 10, then: ":")
            output.append(second % 60, unit: 10, then: ".")
            output.append(milliseconds, unit: 100, then: "Z")
        }
    }
}

extension Int64 {
    /// The quotient, rounded down: days before 1970 are negative.
    package func floored(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension OutputSpan<UInt8> {
    /// - Parameter unit: what the first digit counts.
    @inline(never) fileprivate mutating func append(_ number: Int64, unit: Int64, then end: Unicode.Scalar) {
        var unit = unit
        while unit > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10))
            unit /= 10
        }
        append(UInt8(ascii: end))
    }
}
