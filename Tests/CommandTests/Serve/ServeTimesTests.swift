import Foundation
import LinuxSupport
import NetworkLab
import TestSupport
import Testing

/// The outages that `reachability serve` reports, compared with the events that `ip monitor` prints.
///
/// SERVICE_OUTAGES sets the number of outages of each length, and SERVICE_SEED their order. With SERVICE_TIMES=exact the durations must
/// agree to the millisecond, which needs a machine with nothing else to do. Otherwise a process may wait for a processor for longer than
/// the network was away, so a duration is only compared with the time that the test has observed.
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
    private static let tolerance = Duration.milliseconds(1)
    /// If the service gets no processor while the network is away, it reads the events of the loss and of the return together, and a query
    /// then finds a working network.
    private static let attempts = isExact ? 1 : 10

    @Test(arguments: [Loss.link, Loss.route])
    func `outages of 4 s, 400 ms and 40 ms are found, attributed, and measured exactly`(loss: Loss) async throws {
        let uplink = try await Uplink.make(isConnected: false)
        try await uplink.ip("-6 addr flush dev u0")
        try await uplink.ip(batch: loss.connection)
        let lab = try await ServeLab.start(on: uplink)
        let monitor = try await RunningCommand.start(in: uplink.namespace) {
            try LabProcess("stdbuf", ["-oL", "ip", "-4", "-ts", "-o", "monitor", "link", "route"])
        }
        // `ip monitor` is ready when it prints an event.
        try await waitUntil {
            try await uplink.ip("route add 203.0.113.0/24 via 192.0.2.9", "route del 203.0.113.0/24")
            return await !monitor.restOfLines().isEmpty
        }
        /// The length of each outage by `ip monitor`, and the time from before the loss until the service reported the return.
        var lengths: [(length: Duration, observed: Duration)] = []
        var generator = SeededGenerator(seed: Self.seed)
        let all = [[Duration]](repeating: [.seconds(4), .milliseconds(400), .milliseconds(40)], count: Self.outages)
        for wanted in all.joined().shuffled(using: &generator) {
            for attempt in 1...Self.attempts {
                _ = await monitor.restOfLines()
                let start = ContinuousClock.now
                try await uplink.ip(batch: loss.away)
                try await Task.sleep(for: wanted)
                try await uplink.ip(batch: loss.back)
                let away = try await monitor.time(of: loss.awaySign)
                let length = try await monitor.time(of: loss.backSign) - away
                let count = lengths.count + 1
                let isFound = try await eventually {
                    let outages = try await lab.outages()
                    return outages.count == count && outages.allSatisfy { $0.end != nil }
                }
                if isFound {
                    lengths.append((length, .now - start))
                    break
                }
                try #require(attempt < Self.attempts, "not found: \(length)")
            }
        }
        let outages = try await lab.outages().reversed()
        for (outage, (length, observed)) in zip(outages, lengths) {
            #expect(outage.attribution == "us")
            #expect(outage.cause == loss.cause)
            let duration = Duration.nanoseconds(outage.durationNanoseconds)
            #expect(duration > .zero && duration < observed)
            let difference = duration - length
            if Self.isExact {
                #expect(Duration.milliseconds(outage.uncertaintyMilliseconds) <= Self.tolerance)
                #expect(difference > .zero - Self.tolerance && difference < Self.tolerance, "\(difference)")
            }
            print("serve: us.\(loss.cause) for \(length), told \(outage.durationNanoseconds) ns, \(difference) more")
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

extension RunningCommand {
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
