import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

/// The outages that `reachability serve` reports, compared with the events that `ip monitor` prints.
///
/// SERVICE_OUTAGES sets the number of outages of each length, and SERVICE_SEED their order. With SERVICE_TIMES=exact the durations must
/// agree as well with `ip monitor` as those of a second `ip monitor`, which needs a machine with nothing else to do. Otherwise a process may
/// wait for a processor for longer than the network was away, so a duration is only compared with the time that the test has observed.
@Suite(.serialized) struct ServeTimesTests {
    /// A loss of the network and its return, with names for both.
    struct Loss: Sendable, CustomTestStringConvertible {
        let cause: String
        /// The commands that connect the uplink to the network.
        let connection: [String]
        let away: [String]
        let back: [String]
        /// The text in a line of `ip monitor` for the loss and for the return.
        let awaySign: String
        let backSign: String
        var testDescription: String { cause }

        /// The targets have routes without a router, which the kernel adds when it sets the link up. `ip` would add a default route later, and
        /// until then the missing route would be the cause.
        static let link = Loss(
            cause: "link",
            connection: ["addr add 192.0.3.2/4 dev u0", "addr add 9.0.0.2/7 dev u0"],
            away: ["link set u0 down"],
            back: ["link set u0 up"],
            awaySign: "<BROADCAST,MULTICAST> mtu",
            backSign: "dev u0 proto kernel"
        )
        static let route = Loss(
            cause: "route",
            connection: ["route add default via 192.0.2.1"],
            away: ["route del default"],
            back: ["route add default via 192.0.2.1"],
            awaySign: "Deleted default",
            backSign: "default via"
        )
    }

    private static let outages = EnvironmentVariable.value(of: "SERVICE_OUTAGES").flatMap(Int.init) ?? 1
    private static let seed = EnvironmentVariable.value(of: "SERVICE_SEED").flatMap(UInt64.init) ?? 18

    private static let isExact = getenv("SERVICE_TIMES") != nil
    /// The maximum uncertainty of an outage, and the maximum median of the differences above that of a second `ip monitor`.
    private static let tolerance = Duration.milliseconds(1)
    /// The maximum difference above that of a second `ip monitor`.
    private static let largestDelay = Duration.milliseconds(4)
    /// If the service gets no processor while the network is away, it reads the events of the loss and of the return together, and a query
    /// then finds a working network.
    private static let attempts = isExact ? 1 : 10

    @Test(arguments: [Loss.link, Loss.route])
    func `outages of 4 s, 400 ms and 40 ms are found, attributed and measured`(loss: Loss) async throws {
        let uplink = try await Uplink.make(isConnected: false)
        try await uplink.ip("-6 addr flush dev u0")
        // In the same namespace the far end would be a link that has lost its carrier, which the kernel may report up to 1 s late.
        let beyond = try await LabThread.detached { try LabNamespace() }
        try await uplink.ip("link set far netns \(beyond.path)")
        try await LabThread.detached { try beyond.ip("link set far up") }
        try await uplink.ip(batch: loss.connection)
        let lab = try await ServeLab.start(on: uplink)
        // Both read the same events, so the difference between them is the error of the reference.
        let monitor = try await RunningCommand.monitor(uplink)
        let second = try await RunningCommand.monitor(uplink)
        // `ip monitor` is ready when it prints an event.
        try await waitUntil {
            try await uplink.ip("route add 203.0.113.0/24 via 192.0.2.9", "route del 203.0.113.0/24")
            let (one, other) = await (monitor.restOfLines(), second.restOfLines())
            return !one.isEmpty && !other.isEmpty
        }
        /// The length of each outage by both, and the time from before the loss until the service reported the return.
        var lengths: [(first: Duration, second: Duration, observed: Duration)] = []
        var generator = SeededGenerator(seed: Self.seed)
        let all = [[Duration]](repeating: [.seconds(4), .milliseconds(400), .milliseconds(40)], count: Self.outages)
        for wanted in all.joined().shuffled(using: &generator) {
            for attempt in 1...Self.attempts {
                _ = await (monitor.restOfLines(), second.restOfLines())
                let start = ContinuousClock.now
                try await uplink.ip(batch: loss.away)
                try await Task.sleep(for: wanted)
                try await uplink.ip(batch: loss.back)
                let (length, other) = (try await monitor.length(of: loss), try await second.length(of: loss))
                let count = lengths.count + 1
                let isFound = try await eventually {
                    let outages = try await lab.outages()
                    return outages.count == count && outages.allSatisfy { $0.end != nil }
                }
                if isFound {
                    lengths.append((length, other, .now - start))
                    break
                }
                try #require(attempt < Self.attempts, "not found: \(length)")
            }
        }
        let outages = try await lab.outages().reversed()
        for (outage, (length, _, observed)) in zip(outages, lengths) {
            #expect(outage.attribution == "us")
            #expect(outage.cause == loss.cause)
            let duration = Duration.nanoseconds(outage.durationNanoseconds)
            #expect(duration > .zero && duration < observed)
            if Self.isExact {
                #expect(Duration.milliseconds(outage.uncertaintyMilliseconds) <= Self.tolerance)
            }
            print("outage by \(loss.cause): \(length), difference of the service \(duration - length)")
        }
        if Self.isExact {
            let measured = zip(outages, lengths).map { difference(.nanoseconds($0.durationNanoseconds), $1.first) }
                .sorted()
            let reference = lengths.map { difference($0.first, $0.second) }.sorted()
            let (median, worst) = (measured.count / 2, measured.count - 1)
            #expect(measured[median] <= reference[median] + Self.tolerance)
            #expect(measured[worst] <= reference[worst] + Self.largestDelay)
            print("differences of the service: median \(measured[median]), maximum \(measured[worst])")
            print("differences of a second monitor: median \(reference[median]), maximum \(reference[worst])")
        }
        let metrics = try await lab.get("/metrics")
        let total = try #require(metrics.firstMatch(of: #/seconds_total\{target="internet",state="us"\} ([0-9.]+)/#))
        let sum = outages.reduce(0) { $0 + $1.durationNanoseconds }
        #expect(abs(try #require(Double(total.1)) - Double(sum) / 1e9) < 1e-6)
        #expect(try await lab.end() == 0)
    }
}

extension Uplink {
    /// Runs `ip` commands in one process.
    fileprivate func ip(batch commands: [String]) async throws {
        try await LabThread.detached { try self.namespace.ip(commands) }
    }
}

/// Returns the absolute difference.
private func difference(_ one: Duration, _ other: Duration) -> Duration { max(one, other) - min(one, other) }

extension RunningCommand {
    /// Starts `ip monitor` in the namespace of an uplink.
    fileprivate static func monitor(_ uplink: Uplink) async throws -> RunningCommand {
        try await start(in: uplink.namespace) {
            try LabProcess("stdbuf", ["-oL", "ip", "-4", "-ts", "-o", "monitor", "link", "route"])
        }
    }

    /// Returns the time from a loss to the return, both of which were printed or will be.
    fileprivate func length(of loss: ServeTimesTests.Loss) async throws -> Duration {
        let away = try await time(of: loss.awaySign)
        return try await time(of: loss.backSign) - away
    }

    /// Returns the time of an event according to `ip -ts monitor`, on the wall clock.
    fileprivate func time(of sign: String) async throws -> Duration {
        while true {
            let line = try await line()
            guard line.contains(sign) else { continue }
            let stamp = try #require(line.firstMatch(of: #/T(\d\d):(\d\d):(\d\d)\.(\d+)/#))
            let parts = [stamp.1, stamp.2, stamp.3, stamp.4].compactMap { Int64($0) }
            return .seconds(parts[0] * 3600 + parts[1] * 60 + parts[2]) + .microseconds(parts[3])
        }
    }
}
