import LinuxSupport
import TestSupport
import Testing

/// The text forms of times and durations.
@Suite struct TimeTextTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-21T08:15:30Z", 1_795_248_930),
        ("2026-11-21T09:15:30+01:00", 1_795_248_930),
        ("2024-02-29T23:59:59-00:30", 1_709_252_999), ("2000-03-01t00:00:00z", 951_868_800),
        ("1969-12-31T23:59:59Z", -1), ("2100-02-28 12:00:00Z", 4_107_499_200),
    ])
    func `a valid time is read`(text: String, seconds: Int64) {
        #expect(Timestamp.real(of: text) == .seconds(seconds))
    }

    @Test func `a written time can be read`() {
        for seconds in stride(from: Int64(-60_000_000_000), through: 7_000_000_000, by: 86_399_999) {
            let real = Duration.seconds(seconds) + .milliseconds(seconds % 1000)
            #expect(Timestamp.real(of: Timestamp(real: real).text) == real)
        }
        #expect(Timestamp(real: .milliseconds(-1)).text == "1969-12-31T23:59:59.999Z")
        #expect(Timestamp.real(of: "2026-11-21T08:15:30.123456789Z") == .nanoseconds(1_795_248_930_123_456_789))
    }

    @Test func `any time can be written and read`() throws {
        for integer in ExtremeValues.integers {
            for time in [Duration.nanoseconds(integer), .milliseconds(integer), .seconds(integer)] {
                let text = Timestamp(real: time).text
                #expect(text.utf8.count == 24)
                let read = try #require(Timestamp.real(of: text))
                #expect(read <= .seconds(Timestamp.latest + 1) && (read <= time || time < .zero))
            }
        }
        #expect(Timestamp(real: .seconds(Int64.min)).text == "0000-01-01T00:00:00.000Z")
        #expect(Timestamp(real: .seconds(Int64.max)).text == "9999-12-31T23:59:59.000Z")
        for text in ExtremeValues.times { #expect(Timestamp.real(of: text) != nil) }
    }

    @Test(arguments: [
        ("2026-11-21T08:15:30.123Z internet: us", "2026-11-21T09:15:30.123+01:00 internet: us"),
        (
            "x: 2026-12-31T23:30:00Z to 2027-01-01T00:00:00.5Z",
            "x: 2027-01-01T00:30:00.000+01:00 to 2027-01-01T01:00:00.500+01:00"
        ),
        (
            "Z 2026-13-01T00:00:00Z 1Z Zürich é2026-11-21T08:15:30ZZ",
            "Z 2026-13-01T00:00:00Z 1Z Zürich é2026-11-21T09:15:30.000+01:00Z"
        ),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999+01:00"), ("", ""),
    ])
    func `times in a text are converted to local time`(text: String, local: String) {
        func converted(_ offset: Int64) -> String {
            String(decoding: Timestamp.localized(Array(text.utf8)) { _ in offset }, as: UTF8.self)
        }
        #expect(converted(3600) == local)
        #expect(converted(0) == text)
        #expect(converted(59) == text)
    }

    @Test func `a time zone may be west of Greenwich or differ by half an hour`() {
        func converted(_ offset: Int64) -> String {
            String(decoding: Timestamp.localized(Array("2026-11-21T02:15:30.123Z".utf8)) { _ in offset }, as: UTF8.self)
        }
        #expect(converted(-12_600) == "2026-11-20T22:45:30.123-03:30")
        #expect(converted(20_700) == "2026-11-21T08:00:30.123+05:45")
        for seconds in ExtremeValues.integers { _ = Timestamp.zoneOffset(at: .seconds(seconds)) }
    }

    @Test func `any duration has nanoseconds, milliseconds and a text`() {
        for integer in ExtremeValues.integers {
            for duration in [Duration.nanoseconds(integer), .milliseconds(integer), .seconds(integer)] {
                let sum = duration + duration
                for value in [duration, sum] {
                    #expect(value.nanoseconds >= 0 && !value.people.isEmpty && !DurationText.text(value).isEmpty)
                    #expect((value.milliseconds < 0) == (value <= .milliseconds(-1)))
                    #expect(value.roundedMilliseconds >= 0)
                }
            }
        }
        for text in ExtremeValues.durations { _ = DurationText.duration(text).map { DurationText.text($0 + $0) } }
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T08:15:30", "2026-13-21T08:15:30Z", "2025-02-29T00:00:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T08:15:30.Z", "2026-11-21T08:15:30+1:00", "2026-11-21T08:15:30Zx", "x026-11-21T08:15:30Z",
        "2026-11-21T08:15:30+25:00",
    ])
    func `an invalid time is refused`(text: String) {
        #expect(Timestamp.real(of: text) == nil)
    }

    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("1.5s", .milliseconds(1500)), ("30d", .seconds(2_592_000)),
        ("2m", .seconds(120)),
    ])
    func `a duration can be read and written`(text: String, duration: Duration) {
        #expect(DurationText.duration(text) == duration)
        #expect(DurationText.duration(DurationText.text(duration)) == duration)
    }

    @Test func `an hour is written as 1h and 61 minutes as 61m`() {
        #expect(DurationText.text(.seconds(3600)) == "1h")
        #expect(DurationText.text(.seconds(3660)) == "61m")
        #expect(DurationText.duration("1w") == nil)
    }
}

/// The text forms of durations and shares.
@Suite struct LengthTests {
    @Test(arguments: [
        (Duration.zero, "0s"), (.nanoseconds(3), "0s"), (.microseconds(480), "0.48ms"), (.microseconds(9_996), "10ms"),
        (.milliseconds(40), "40ms"), (.microseconds(46_600), "47ms"), (.microseconds(999_600), "1s"),
        (.milliseconds(4001), "4.001s"), (.seconds(60), "1m"), (.seconds(3725), "1h 2m"), (.seconds(86400), "1d"),
        (.seconds(86400 * 30 + 7200), "30d 2h"),
    ])
    func `a duration has a short text`(duration: Duration, text: String) {
        #expect(duration.people == text)
    }

    @Test func `a duration has an exact text`() {
        #expect(Duration.nanoseconds(4_001_000_002).decimalSeconds == "4.001000002")
        #expect(Duration.seconds(10).decimalSeconds == "10")
        #expect(Duration.zero.decimalSeconds == "0")
        #expect((0.9999999).percentText == "99.9999")
        #expect((1.0).percentText == "100")
    }
}

/// Escaping of untrusted text.
@Suite struct PrintableTests {
    @Test(arguments: [
        ("", ""), ("example.org", "example.org"), ("bücher.example", "bücher.example"), ("日本", "日本"),
        ("\u{1b}[31m", "\\u{1b}[31m"), ("a\u{0}b", "a\\u{0}b"), ("\u{7f}\u{9b}", "\\u{7f}\\u{9b}"),
        ("\u{202e}\u{2066}\u{200f}", "\\u{202e}\\u{2066}\\u{200f}"), ("a\nb\r\t", "a\\u{a}b\\u{d}\\u{9}"),
        ("\u{2028}\u{feff}\u{e000}\u{e0001}", "\\u{2028}\\u{feff}\\u{e000}\\u{e0001}"),
    ])
    func `control characters of a terminal are escaped`(text: String, shown: String) {
        #expect(text.printable == shown)
    }

    @Test func `line breaks are kept`() {
        #expect("a\u{7}\nb\n".printableLines == "a\\u{7}\nb\n")
    }

    @Test(arguments: ["192.0.2.1\0", "192.0.2.1\0.example", "\0", "::1\0"])
    func `an address with a zero byte is invalid`(text: String) {
        #expect(WireAddress(text) == nil)
    }
}

/// Splitting of untrusted text, in which a combining mark may follow a separator and a line may end with two bytes.
@Suite struct SplittingTests {
    @Test func `a separator before a combining mark is found`() {
        #expect("name:\u{301}abc".split(at: ":") == ["name", "\u{301}abc"])
        #expect("a,\u{301},b,".split(at: ",", omittingEmptySubsequences: false) == ["a", "\u{301}", "b", ""])
        #expect("a,b,c".split(at: ",", maxSplits: 1) == ["a", "b,c"])
        #expect("".split(at: ",", omittingEmptySubsequences: false) == [""])
        #expect("a \u{301}b\tc".words == ["a", "\u{301}b", "c"])
        #expect("\"\u{301}\\\u{301}".replacing(scalars: "\"", with: "\\\"") == "\\\"\u{301}\\\u{301}")
    }

    @Test func `a line ends at each line feed`() {
        #expect("a\r\nb\nc\r\n".split(at: "\n") == ["a\r", "b", "c\r"])
        #expect("a\r\n\nb\u{2028}c\r\n".lines == ["a", "b", "c"])
        #expect("a\r\nb".replacing(scalars: "\n", with: "\\n") == "a\r\\nb")
    }
}

/// Hosts and ports as text.
@Suite struct HostAndPortTests {
    @Test(arguments: [
        ("example.org", "example.org", nil), ("example.org:443", "example.org", "443"), ("a:", "a", ""),
        (":1", "", "1"), ("", "", nil), ("[2001:db8::1]", "2001:db8::1", nil), ("[::1]:8443", "::1", "8443"),
        ("[a]:b", "a", "b"), ("[\u{301}::1]:1", "\u{301}::1", "1"),
    ])
    func `a host and a port are split`(text: String, host: String, digits: String?) throws {
        let server = try #require(HostAndPort(text))
        #expect(server.host == host && server.digits.map(String.init) == digits)
        #expect(server.isBracketed == text.unicodeScalars.starts(with: "[".unicodeScalars))
    }

    @Test(arguments: ["[::1", "[::1]8443", "[", "a:1:2", "::1"])
    func `a text that is not a host and a port is refused`(text: String) {
        #expect(HostAndPort(text) == nil)
        #expect((HostAndPort(text, allowsBareAddress: true)?.host == text) == !text.hasPrefix("["))
    }

    @Test(arguments: [
        ("a", 80), ("a:1", 1), ("a:65535", 65535), ("a:0", nil), ("a:65536", nil), ("a:", nil), ("a:+1", nil),
    ])
    func `a port is a number from 1 to 65535`(text: String, port: UInt16?) throws {
        #expect(try #require(HostAndPort(text)).port(orElse: 80) == port)
    }
}

/// Host names in other scripts and their ASCII forms, from RFC 3492 and from registries.
@Suite struct IDNATests {
    @Test(arguments: [
        ("Example.ORG", "example.org"), ("", ""), ("a..b", "a..b"), ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"), ("bu\u{308}cher.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"), ("παράδειγμα.δοκιμή", "xn--hxajbheg2az3al.xn--jxalpdlp"),
        ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("a．b｡ü", "a.b.xn--tda"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
    ])
    func `an international host name is encoded`(text: String, ascii: String) {
        #expect(IDNA.ascii(text) == ascii)
    }

    @Test(arguments: [
        // Full-width letters, a joiner, a symbol, a leading mark, hyphens of A-labels, white space, control bytes.
        "ａ.example", "ü\u{200d}.example", "☃.example", "\u{301}a.example", "ab--ü", "ü-", "-ü", "ü ", "ü\u{1b}",
        String(repeating: "ü", count: 64),
    ])
    func `an invalid international host name has no ASCII form`(text: String) {
        #expect(IDNA.ascii(text) == nil)
    }

    @Test(arguments: [
        ("https://example.org/a?token=hush?b", "https://example.org/a?***"),
        ("/health?\u{301}hush", "/health?***"),
        ("https://u:hush@example.org:8443/a@b", "https://***@example.org:8443/a@b"),
        ("https://u:hu@sh@example.org", "https://***@example.org"),
        ("https://u:hush@\u{301}example.org/?hush", "https://***@\u{301}example.org/?***"),
        ("u:hush@example.org", "***@example.org"), ("a/b@c", "a/b@c"),
        ("https://example.org?@hush", "https://example.org?***"), ("://", "://"), ("", ""),
    ])
    func `the user and the query of a URL are masked`(text: String, masked: String) {
        #expect(text.secretsMasked == masked)
    }
}
