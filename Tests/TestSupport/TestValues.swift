import Glibc
import LinuxSupport

/// Extreme values of types and calendars, for tests of external input.
package enum ExtremeValues {
    package static let integers: [Int64] = [0, 1, -1, .min, .max, .min + 1, .max - 1, 1 << 53, 253_402_300_799_999]

    /// The years 0000 and 9999, and the limits of 64-bit nanoseconds.
    package static let times = [
        "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "1677-09-21T00:12:43Z", "1677-09-21T00:12:44Z",
        "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z", "2262-04-11T23:47:16.999Z", "2262-04-11T23:47:17Z",
        "2263-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "0000-01-01T00:00:00+23:59",
        "9999-12-31T23:59:60-23:59",
    ]

    package static let durations = [
        "0s", "0.000001ms", "1ms", "1s", "-1s", "36500d", "36501d", "106751d", "106752d", "213504d",
        "9223372036854775s",
        "9223372036854775807ms", "9223372036854775808ms", "9999999999999999999d",
    ]

    /// Extreme texts for query parameters and fields of any type.
    package static var texts: [String] { integers.map(String.init) + times + durations + ["", "\u{301}", "é\u{301}"] }
}

/// Random numbers, reproducible by seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}

/// The number of damaged inputs for each parser of untrusted data: the value of CHECK_MUTATIONS, or 5,000.
package enum MutationCount {
    package static let value = EnvironmentVariable.value(of: "CHECK_MUTATIONS").flatMap(Int.init) ?? 5_000
}

/// Yields in every 256th round of a long loop, because there are only as many threads for tasks as processors.
package func takeTurns(in round: Int) async {
    if round % 256 == 0 { await Task.yield() }
}

/// The programs that were built with the tests.
package enum BuiltProgram {
    /// Returns the path of a program, which is beside the running test bundle.
    package static func path(_ name: String) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let bundle = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return bundle.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/" + name
    }
}

/// The name of an enumeration case with associated values; the description of other values.
package func caseName(_ value: Any?) -> String {
    value.map { Mirror(reflecting: $0).children.first?.label ?? "\($0)" } ?? "nil"
}
