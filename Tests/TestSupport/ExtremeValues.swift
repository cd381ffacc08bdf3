/// Values at the borders of their types and of the calendars, for everything that comes from outside.
package enum ExtremeValues {
    package static let integers: [Int64] = [0, 1, -1, .min, .max, .min + 1, .max - 1, 1 << 53, 253_402_300_799_999]

    /// Years 0000 and 9999, and the ends of a time line that counts nanoseconds in 64 bits.
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

    /// As query parameters and fields may have them, of whatever kind they are.
    package static var texts: [String] { integers.map(String.init) + times + durations + ["", "\u{301}", "é\u{301}"] }
}
