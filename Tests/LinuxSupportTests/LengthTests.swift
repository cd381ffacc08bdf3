import LinuxSupport
import Testing

/// How lengths of time and shares are written.
@Suite struct LengthTests {
    @Test(arguments: [
        (Duration.zero, "0s"), (.nanoseconds(3), "0s"), (.microseconds(480), "0.48ms"), (.microseconds(9_996), "10ms"),
        (.milliseconds(40), "40ms"), (.microseconds(46_600), "47ms"), (.microseconds(999_600), "1s"),
        (.milliseconds(4001), "4.001s"), (.seconds(60), "1m"), (.seconds(3725), "1h 2m"), (.seconds(86400), "1d"),
        (.seconds(86400 * 30 + 7200), "30d 2h"),
    ])
    func `for people`(duration: Duration, text: String) {
        #expect(duration.people == text)
    }

    @Test func `for machines, exactly`() {
        #expect(Duration.nanoseconds(4_001_000_002).decimalSeconds == "4.001000002")
        #expect(Duration.seconds(10).decimalSeconds == "10")
        #expect(Duration.zero.decimalSeconds == "0")
        #expect((0.9999999).percentText == "99.9999")
        #expect((1.0).percentText == "100")
    }
}
