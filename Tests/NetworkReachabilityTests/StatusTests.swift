import Foundation
import KernelLab
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

@Suite("Flags and the status that follows from them")
struct NetworkReachabilityFlagsTests {
    @Test func `the raw values are those of Apple`() {
        let values: [(NetworkReachabilityFlags, UInt32)] = [
            (.transientConnection, 1), (.reachable, 2), (.connectionRequired, 4), (.connectionOnTraffic, 8),
            (.interventionRequired, 16), (.connectionOnDemand, 32), (.isLocalAddress, 0x10000), (.isDirect, 0x20000),
            (.isWWAN, 0x40000),
        ]
        for (flag, value) in values { #expect(flag.rawValue == value) }
        #expect(NetworkReachabilityFlags.connectionAutomatic == .connectionOnTraffic)
    }

    @Test(
        arguments: [
            ([.reachable], .reachable(.ethernetOrWiFi)),
            ([.reachable, .isDirect], .reachable(.ethernetOrWiFi)),
            ([.reachable, .isWWAN], .reachable(.wwan)),
            ([], .notReachable),
            ([.isWWAN], .notReachable),
            ([.connectionOnDemand], .notReachable),
            ([.reachable, .connectionRequired], .notReachable),
            ([.reachable, .connectionRequired, .connectionOnDemand], .reachable(.ethernetOrWiFi)),
            ([.reachable, .connectionRequired, .connectionOnTraffic], .reachable(.ethernetOrWiFi)),
            ([.reachable, .connectionRequired, .connectionOnTraffic, .isWWAN], .reachable(.wwan)),
            ([.reachable, .connectionRequired, .connectionOnDemand, .interventionRequired], .notReachable),
            ([.reachable, .connectionRequired, .interventionRequired], .notReachable),
            ([.reachable, .connectionRequired, .connectionOnTraffic, .interventionRequired], .notReachable),
            ([.reachable, .interventionRequired], .reachable(.ethernetOrWiFi)),
            ([.reachable, .isWWAN, .connectionRequired], .notReachable),
            ([.reachable, .isLocalAddress, .isDirect, .transientConnection], .reachable(.ethernetOrWiFi)),
        ] as [(NetworkReachabilityFlags, NetworkReachabilityStatus)]
    )
    func `the status follows Alamofire's rules`(flags: NetworkReachabilityFlags, status: NetworkReachabilityStatus) {
        #expect(NetworkReachabilityStatus(flags) == status)
    }

    @Test func `missing flags are unknown`() {
        #expect(NetworkReachabilityStatus(nil) == .unknown)
    }

    @Test func `each flag has one character`() {
        #expect(NetworkReachabilityFlags([.reachable, .isLocalAddress]).readableDescription == "-R -----l-")
        #expect(NetworkReachabilityFlags([]).readableDescription == "-- -------")
        let all: NetworkReachabilityFlags = [
            .transientConnection, .reachable, .connectionRequired, .connectionOnTraffic, .interventionRequired,
            .connectionOnDemand, .isLocalAddress, .isDirect, .isWWAN,
        ]
        #expect(all.readableDescription == "WR ctiCDld")
        #expect(all.names.count == 9)
    }

    @Test func `the descriptions are English texts`() {
        #expect(NetworkReachabilityStatus.unknown.localizedDescription == "Unknown")
        #expect(NetworkReachabilityStatus.notReachable.localizedDescription == "Not Reachable")
        #expect(NetworkReachabilityStatus.reachable(.cellular).localizedDescription == "Reachable via WWAN")
        #expect(NetworkReachabilityStatus.notReachable.description == "not reachable")
    }

    @Test func `the alias cellular works in patterns`() {
        switch NetworkReachabilityStatus.reachable(.wwan) {
        case .reachable(.cellular): break
        default: Issue.record("cellular is another name for wwan")
        }
    }
}

/// Paths as JSON, schema 1.
@Suite struct PathCodingTests {
    private let kernel = FakeKernel()

    init() {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addAddress("fe80::2/64", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
    }

    private func path(_ host: String) throws -> NetworkPath {
        try NetworkReachabilityManager(host: host, kernel: kernel).path
    }

    private func decoded(_ text: String) throws -> NetworkPath {
        try JSONDecoder().decode(NetworkPath.self, from: Data(text.utf8))
    }

    @Test(arguments: ["203.0.113.7", "10.0.0.2", "2001:db8::1", "fe80::9%eth0", "0.0.0.0"])
    func `a decoded path equals the encoded one`(host: String) throws {
        let path = try path(host)
        #expect(try JSONDecoder().decode(NetworkPath.self, from: JSONEncoder().encode(path)) == path)
        let unknown = NetworkPath(reason: .netlinkUnavailable)
        #expect(try JSONDecoder().decode(NetworkPath.self, from: JSONEncoder().encode(unknown)) == unknown)
    }

    @Test func `the keys are those of the command's output`() throws {
        let data = try JSONEncoder().encode(try path("203.0.113.7"))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["schema"] as? Int == 1)
        #expect(object["status"] as? String == "reachable")
        #expect(object["connectionType"] as? String == "ethernetOrWiFi")
        #expect(object["flags"] as? [String] == ["reachable"])
        #expect(object["interface"] as? String == "eth0")
        #expect(object["gateway"] as? String == "10.0.0.1")
        #expect(object["destination"] as? String == "203.0.113.7")
        #expect(object["flapping"] as? Bool == false)
    }

    @Test func `a line of the command's output can be decoded`() throws {
        let path = try decoded(
            """
            {"schema":1,"time":"2026-01-01T00:00:00.000Z","target":"a.example","status":"notReachable","connectionType":null,
            "flags":[],"interface":"br0","interfaceType":"ethernet","gateway":null,"source":null,"reason":"noCarrier",
            "generation":3,"underlyingInterfaces":["eth0"],"destination":"203.0.113.7","supportsIPv4":false,
            "supportsIPv6":false,"flapping":true,"namespace":null,"kind":"path"}
            """
        )
        #expect(path.status == .notReachable && path.reason == .noCarrier && path.isFlapping && path.generation == 3)
        #expect(path.interface?.description == "br0/eth0")
        #expect(path.destination == IPAddress("203.0.113.7"))
    }

    @Test(arguments: [
        "{}", "[]", #"{"schema":2,"status":"unknown"}"#, #"{"status":"reachable","gateway":"no address"}"#,
        #"{"status":1}"#,
    ])
    func `invalid JSON is rejected`(text: String) {
        #expect(throws: DecodingError.self) { try decoded(text) }
    }
}

/// The values of a histogram, compared with those of a sorted list.
@Suite struct LatencyHistogramTests {
    private static let quantiles = [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999]

    /// Returns random values, distributed over all magnitudes between two limits, as delays are.
    private static func values(_ count: Int, from least: Double, to greatest: Double, seed: UInt64) -> [Duration] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in
            .nanoseconds(Int64(exp(Double.random(in: log(least)...log(greatest), using: &generator))))
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `quantiles differ by at most a 64th from those of the sorted values`(seed: UInt64) throws {
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

    @Test func `a single value differs by at most a 64th, and the extremes are exact`() throws {
        for value in Self.values(2000, from: 1e3, to: 3.6e12, seed: 7) {
            var histogram = LatencyHistogram()
            // The extremes are far away, so they do not limit the value that represents the bucket.
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

    @Test func `an empty histogram has no values`() {
        let histogram = LatencyHistogram()
        #expect(histogram.count == 0)
        #expect(histogram.min == nil && histogram.max == nil && histogram.mean == nil)
        #expect(histogram.value(atQuantile: 0.5) == nil)
        #expect("\(histogram)" == "count 0")
    }

    @Test func `values out of range are limited`() throws {
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
    func `a quantile uses the nearest rank`(quantile: Double, seconds: Int) throws {
        var histogram = LatencyHistogram()
        for second in 1...10 { histogram.record(.seconds(second)) }
        let found = try #require(histogram.value(atQuantile: quantile))
        #expect(abs(found / .seconds(seconds) - 1) <= 1.0 / 64)
    }

    @Test func `a copy is independent`() {
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

    @Test func `the description has one line`() {
        var histogram = LatencyHistogram()
        for microseconds in 1...100 { histogram.record(.microseconds(microseconds)) }
        #expect("\(histogram)" == "count 100, min 1 us, p50 49 us, p90 89 us, p99 99 us, max 100 us")
    }
}
