import CommandLineSupport
import Testing

@testable import reachability

/// Durations, sizes and lists of exit statuses, as options take them.
@Suite struct ArgumentTests {
    @Test(arguments: [
        ("500ms", Duration.milliseconds(500)), ("1.5s", .milliseconds(1500)), ("2m", .seconds(120)),
        ("1h", .seconds(3600)), ("1d", .seconds(86_400)), ("0.5h", .seconds(1800)),
        ("0.000001s", .microseconds(1)), ("1.25d", .seconds(108_000)),
        ("0s", .zero), ("0.5ms", .microseconds(500)), ("36500d", .seconds(3_153_600_000)),
    ])
    func `a duration has a unit, and may have a fraction`(text: String, duration: Duration) throws {
        #expect(try DurationArgument(argument: text).value == duration)
    }

    @Test(arguments: [
        ("1", 1), ("20kB", 20_000), ("20KB", 20_000), ("20KiB", 20_480), ("64MB", 64_000_000), ("64MiB", 67_108_864),
        ("1GB", 1_000_000_000), ("1GiB", 1_073_741_824),
    ])
    func `a size is in thousands, or with an i in 1024s`(text: String, bytes: Int) throws {
        #expect(try SizeArgument(argument: text).bytes == bytes)
    }

    @Test(arguments: ["", "KB", "0", "-1KB", "1kb", "1K", "1.5MB", "1 MB", "9223372036854775807KB"])
    func `what is no size is refused`(text: String) {
        #expect(throws: ExitMessage.self) { try SizeArgument(argument: text).bytes }
    }

    @Test(arguments: [
        "", "1", "2", "1.5", "s", "ms", "-1s", "+2s", "1.5.1s", "1.s", ".5s", ".s", "1.0000001s", "1,5s", "2 s", "1w",
        "2w",
        "2S", "\u{662}s", "99999999999999999999s", "9223372036854775807m", "--json",
    ])
    func `a text without a number and a unit is not a duration`(text: String) {
        let sentence = "\"\(text)\" is no duration: write 500ms, 1.5s, 2m or 1h, for example"
        #expect(Refusal.of { try DurationArgument(argument: text).value } == Refusal(sentence))
    }

    @Test func `exit statuses are numbers and ranges`() throws {
        #expect(try ExitStatuses(argument: "6,7,28").values == [6, 7, 28])
        #expect(try ExitStatuses(argument: "1-5,7-9").values == [1, 2, 3, 4, 5, 7, 8, 9])
        #expect(try ExitStatuses(argument: "1-255").values.count == 255)
    }

    @Test(arguments: ["0", "256", ",", "6,", "6,,7", "9-1", "1-", "-1", "1-2-3", "x", "+6", " 6", "\u{662}", "6;7"])
    func `other texts are not a list of exit statuses`(text: String) {
        let sentence = "\"\(text)\" is no list of exit statuses from 1 to 255: write 6,7,28 or 1-9, for example"
        #expect(Refusal.of { try ExitStatuses(argument: text).values } == Refusal(sentence))
    }
}
