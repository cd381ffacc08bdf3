import CommandLineSupport
import Testing

@testable import reachability

/// Lengths of time and numbers of bytes, as people write them.
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
}
