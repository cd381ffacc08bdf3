import Foundation
import NetworkReachability
import TestSupport
import Testing

/// What a histogram says of values, beside what sorting them says.
@Suite struct LatencyHistogramTests {
    private static let quantiles = [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999]

    /// Spread over all magnitudes between two, as delays are.
    private static func values(_ count: Int, from least: Double, to greatest: Double, seed: UInt64) -> [Duration] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            .nanoseconds(Int64(exp(Double.random(in: log(least)...log(greatest), using: &generator))))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `quantiles are within a 64th of those of the sorted values`(seed: UInt64) throws {
        let values = Self.values(5000, from: 1e3, to: 3.6e12, seed: seed)
        var histogram = LatencyHistogram()
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for quantile in Self.quantiles {
            let exact = sorted[Int((quantile * Double(sorted.count)).rounded(.up)) - 1]
            let found = try #require(histogram.value(atQuantile: quantile))
            #expect(abs(found / exact - 1) <= 1.0 / 64, "\(quantile): \(found), not \(exact)")
        }
    }

    @Test func `every value alone is told within a 64th, and as exactly the extremes`() throws {
        for value in Self.values(2000, from: 1e3, to: 3.6e12, seed: 7) {
            var histogram = LatencyHistogram()
            // The extremes lie far away, so they do not cut off what stands for the bucket.
            for value in [.nanoseconds(1), value, .seconds(4000)] { histogram.record(value) }
            let found = try #require(histogram.value(atQuantile: 0.5))
            #expect(abs(found / value - 1) <= 1.0 / 64, "\(found), not \(value)")
            #expect(histogram.value(atQuantile: 0) == .nanoseconds(1))
            #expect(histogram.value(atQuantile: 1) == .seconds(4000))
        }
    }

    @Test func `count, extremes and mean are exact`() {
        var histogram = LatencyHistogram()
        for microseconds in [300, 100, 200, 1000] { histogram.record(.microseconds(microseconds)) }
        #expect(histogram.count == 4)
        #expect(histogram.min == .microseconds(100))
        #expect(histogram.max == .microseconds(1000))
        #expect(histogram.mean == .microseconds(400))
    }

    @Test func `nothing recorded tells nothing`() {
        let histogram = LatencyHistogram()
        #expect(histogram.count == 0)
        #expect(histogram.min == nil && histogram.max == nil && histogram.mean == nil)
        #expect(histogram.value(atQuantile: 0.5) == nil)
        #expect("\(histogram)" == "count 0")
    }

    @Test func `what is out of range counts as its end`() throws {
        var histogram = LatencyHistogram()
        histogram.record(.seconds(-1))
        #expect(histogram.max == .zero)
        #expect(histogram.value(atQuantile: 0.5) == .zero)
        for _ in 0..<3 { histogram.record(.seconds(Int64.max)) }
        let greatest = try #require(histogram.max)
        #expect(greatest > .seconds(3600) && greatest < .seconds(4400))
        #expect(try #require(histogram.value(atQuantile: 0.9)) / greatest > 63.0 / 64)
    }

    @Test(arguments: [(Double.nan, 1), (-1, 1), (0, 1), (0.1, 1), (0.5, 5), (0.51, 6), (0.99, 10), (1, 10), (7, 10)])
    func `a quantile is the value of the nearest rank`(quantile: Double, seconds: Int) throws {
        var histogram = LatencyHistogram()
        for second in 1...10 { histogram.record(.seconds(second)) }
        let found = try #require(histogram.value(atQuantile: quantile))
        #expect(abs(found / .seconds(seconds) - 1) <= 1.0 / 64)
    }

    @Test func `a copy is a value of its own`() {
        var histogram = LatencyHistogram()
        histogram.record(.milliseconds(1))
        let copy = histogram
        #expect(copy == histogram)
        #expect(Set([copy, histogram]).count == 1)
        histogram.record(.milliseconds(2))
        #expect(copy.count == 1)
        #expect(copy != histogram)
        let news = histogram.values(since: copy)
        #expect(news.map(\.count) == [1])
        #expect(news.map(\.value) == [.milliseconds(2)])
        #expect(histogram.values(since: histogram).isEmpty)
    }

    @Test func `it describes itself on one line`() {
        var histogram = LatencyHistogram()
        for microseconds in 1...100 { histogram.record(.microseconds(microseconds)) }
        #expect("\(histogram)" == "count 100, min 1 us, p50 49 us, p90 89 us, p99 99 us, max 100 us")
    }
}
