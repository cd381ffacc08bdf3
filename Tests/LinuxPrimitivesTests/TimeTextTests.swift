import LinuxPrimitives
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
