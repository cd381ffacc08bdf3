import Foundation
import ServerTrust
import TestSupport
import Testing

@Suite struct TimeTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (1_795_219_200, "2026-11-21T00:00:00Z"),
        ] as [(Int64, String)]
    )
    func `a time is printed in ISO 8601`(_ seconds: Int64, _ text: String) {
        #expect(TrustTime(secondsSinceEpoch: seconds).description == text)
    }

    @Test func `conversions equal those of Foundation`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let seconds = Int64.random(in: -2_000_000_000...20_000_000_000, using: &generator)
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second],
                from: Date(timeIntervalSince1970: Double(seconds))
            )
            let time = TrustTime(
                year: try #require(parts.year),
                month: try #require(parts.month),
                day: try #require(parts.day),
                hour: try #require(parts.hour),
                minute: try #require(parts.minute),
                second: try #require(parts.second)
            )
            #expect(time.secondsSinceEpoch == seconds)
        }
    }

    @Test func `the first and last time do not overflow`() {
        #expect(TrustTime(secondsSinceEpoch: .max).advanced(by: .seconds(1)).secondsSinceEpoch == .max)
        #expect(TrustTime(secondsSinceEpoch: .min).advanced(by: .seconds(-1)).secondsSinceEpoch == .min)
        #expect(TrustTime(secondsSinceEpoch: .min) < .now)
    }
}
