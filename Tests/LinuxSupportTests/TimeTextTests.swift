import LinuxSupport
import TestSupport
import Testing

/// Times and lengths of time as people write them.
@Suite struct TimeTextTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-21T08:15:30Z", 1_795_248_930),
        ("2026-11-21T09:15:30+01:00", 1_795_248_930),
        ("2024-02-29T23:59:59-00:30", 1_709_252_999), ("2000-03-01t00:00:00z", 951_868_800),
        ("1969-12-31T23:59:59Z", -1), ("2100-02-28 12:00:00Z", 4_107_499_200),
    ])
    func `a time is read`(text: String, seconds: Int64) {
        #expect(Timestamp.real(of: text) == .seconds(seconds))
    }

    @Test func `what is written can be read again`() {
        for seconds in stride(from: Int64(-60_000_000_000), through: 7_000_000_000, by: 86_399_999) {
            let real = Duration.seconds(seconds) + .milliseconds(seconds % 1000)
            #expect(Timestamp.real(of: Timestamp(real: real).text) == real)
        }
        #expect(Timestamp(real: .milliseconds(-1)).text == "1969-12-31T23:59:59.999Z")
        #expect(Timestamp.real(of: "2026-11-21T08:15:30.123456789Z") == .nanoseconds(1_795_248_930_123_456_789))
    }

    @Test func `every time can be written, and is read as one`() throws {
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
    func `the times of a text become local`(text: String, local: String) {
        func converted(_ offset: Int64) -> String {
            String(decoding: Timestamp.localized(Array(text.utf8)) { _ in offset }, as: UTF8.self)
        }
        #expect(converted(3600) == local)
        #expect(converted(0) == text)
        #expect(converted(59) == text)
    }

    @Test func `a time zone may be west of Greenwich, and have half an hour`() {
        func converted(_ offset: Int64) -> String {
            String(decoding: Timestamp.localized(Array("2026-11-21T02:15:30.123Z".utf8)) { _ in offset }, as: UTF8.self)
        }
        #expect(converted(-12_600) == "2026-11-20T22:45:30.123-03:30")
        #expect(converted(20_700) == "2026-11-21T08:00:30.123+05:45")
        for seconds in ExtremeValues.integers { _ = Timestamp.zoneOffset(at: .seconds(seconds)) }
    }

    @Test func `every duration has nanoseconds, milliseconds and a text`() {
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
    func `what is no time is none`(text: String) {
        #expect(Timestamp.real(of: text) == nil)
    }

    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("1.5s", .milliseconds(1500)), ("30d", .seconds(2_592_000)),
        ("2m", .seconds(120)),
    ])
    func `a duration is read, and written`(text: String, duration: Duration) {
        #expect(DurationText.duration(text) == duration)
        #expect(DurationText.duration(DurationText.text(duration)) == duration)
    }

    @Test func `an hour is not 60 minutes`() {
        #expect(DurationText.text(.seconds(3600)) == "1h")
        #expect(DurationText.text(.seconds(3660)) == "61m")
        #expect(DurationText.duration("1w") == nil)
    }
}
