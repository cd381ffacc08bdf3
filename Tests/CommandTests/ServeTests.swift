import Foundation
import LinuxPrimitives
import NetworkLab
import TestSupport
import Testing

/// `reachability serve` against the real kernel. SERVICE_OUTAGES says how many outages of each length there are, SERVICE_SEED in which
/// order they come.
@Suite struct ServeTests {
    /// A way to lose the network and to get it back, and what that is called.
    struct Loss: Sendable, CustomTestStringConvertible {
        let cause: String
        let away: [String]
        let back: [String]
        /// In a line of `ip monitor`, what the kernel says when it is away, and when it is back.
        let awaySign: String
        let backSign: String
        var testDescription: String { cause }

        static let link = Loss(
            cause: "link",
            away: ["link set u0 down"],
            back: ["link set u0 up", "route add default via 192.0.2.1"],
            awaySign: " u0@",
            backSign: "default via"
        )
        static let route = Loss(
            cause: "route",
            away: ["route del default"],
            back: ["route add default via 192.0.2.1"],
            awaySign: "Deleted default",
            backSign: "default via"
        )
    }

    private static let outages = EnvironmentVariable.value(of: "SERVICE_OUTAGES").flatMap(Int.init) ?? 1
    private static let seed = EnvironmentVariable.value(of: "SERVICE_SEED").flatMap(UInt64.init) ?? 18

    /// SERVICE_TIMES=exact: on a machine with nothing else to do.
    private static let tolerance: Duration = getenv("SERVICE_TIMES") == nil ? .milliseconds(200) : .milliseconds(1)

    @Test(arguments: [Loss.link, Loss.route])
    func `outages of 4 s, 400 ms and 40 ms are found, attributed, and as long as they were`(loss: Loss) async throws {
        let uplink = try await Uplink.make(isConnected: false)
        try await uplink.ip("-6 addr flush dev u0", "-4 route add default via 192.0.2.1")
        let lab = try await ServeLab.start(on: uplink)
        let monitor = try await RunningCommand.start(in: uplink.namespace) {
            try LabProcess("stdbuf", ["-oL", "ip", "-4", "-ts", "-o", "monitor", "link", "route"])
        }
        // The monitor listens when it tells of something.
        #expect(
            try await eventually(within: .seconds(60)) {
                try await uplink.ip("route add 203.0.113.0/24 via 192.0.2.9", "route del 203.0.113.0/24")
                return await !monitor.restOfLines().isEmpty
            }
        )
        var lengths: [Duration] = []
        var generator = SeededGenerator(seed: Self.seed)
        let all = [[Duration]](repeating: [.seconds(4), .milliseconds(400), .milliseconds(40)], count: Self.outages)
        for wanted in all.joined().shuffled(using: &generator) {
            _ = await monitor.restOfLines()
            try await uplink.ip(batch: loss.away)
            try await Task.sleep(for: wanted)
            try await uplink.ip(batch: loss.back)
            let away = try await monitor.time(of: loss.awaySign)
            lengths.append(try await monitor.time(of: loss.backSign) - away)
        }
        #expect(
            try await eventually(within: .seconds(60)) {
                let outages = try await lab.outages()
                return outages.count == 3 * Self.outages && outages.allSatisfy { $0.end != nil }
            }
        )
        let outages = try await lab.outages().reversed()
        for (outage, length) in zip(outages, lengths) {
            #expect(outage.attribution == "us")
            #expect(outage.cause == loss.cause)
            #expect(Duration.milliseconds(outage.uncertaintyMilliseconds) <= Self.tolerance)
            let difference = Duration.nanoseconds(outage.durationNanoseconds) - length
            // Two programs hear of it, and either may wait for a processor that others have.
            #expect(difference > .zero - Self.tolerance && difference < Self.tolerance, "\(difference)")
            print("serve: us.\(loss.cause) for \(length), told \(outage.durationNanoseconds) ns, \(difference) more")
        }
        let metrics = try await lab.get("/metrics")
        let total = try #require(metrics.firstMatch(of: #/seconds_total\{target="internet",state="us"\} ([0-9.]+)/#))
        let sum = outages.reduce(0) { $0 + $1.durationNanoseconds }
        #expect(abs(try #require(Double(total.1)) - Double(sum) / 1e9) < 1e-6)
        #expect(try await lab.end() == 0)
    }

    @Test func `it sleeps while nothing happens, also after an outage and questions`() async throws {
        let directory = try ScratchDirectory()
        let lab = try await ServeLab.start(history: directory.file("history.sqlite"), in: directory)
        try await lab.uplink.ip(batch: ["link set u0 down"])
        #expect(try await eventually(within: .seconds(60)) { try await !lab.outages().isEmpty })
        for path in ["/", "/outages", "/metrics", "/v1/status"] { _ = try await lab.get(path) }
        // A timer of a second would never let it.
        try await ThreadActivity(of: lab.command.identifier).waitForRest()
        #expect(try await lab.end() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT]) func `a signal ends it cleanly`(signal: CInt) async throws {
        let lab = try await ServeLab.start()
        #expect(try await lab.get("/healthz") == "ok\n")
        #expect(try await lab.end(signal) == 0)
        #expect(access(lab.socket, F_OK) != 0)
        #expect(await lab.command.errors == "")
    }

    @Test func `a stream tells of the kernel's change, and ends whole with the service`() async throws {
        let lab = try await ServeLab.start()
        async let stream = lab.get("/v1/stream")
        #expect(
            try await eventually(within: .seconds(60)) {
                try await lab.get("/metrics").contains("reachability_http_streams 1\n")
            }
        )
        try await lab.uplink.ip("link set u0 down")
        #expect(try await eventually(within: .seconds(60)) { try await lab.outages().count == 1 })
        #expect(try await lab.end() == 0)
        let text = try await stream
        #expect(text.contains("event: snapshot\n"))
        #expect(text.contains("event: outageBegan\n"))
        #expect(text.hasSuffix("0\r\n\r\n"))
    }

    @Test func `a socket that is served is refused, and one that a kill left is taken`() async throws {
        let lab = try await ServeLab.start()
        let arguments = ["serve", "--listen", "none", "--socket", lab.socket, "--history", "none"]
        try await Command.run(arguments)
            .expectRefusal("cannot listen at \(lab.socket): another service listens there", status: 69)
        #expect(try await lab.end(SIGKILL) == -SIGKILL)
        #expect(access(lab.socket, F_OK) == 0)
        let next = try await ServeLab.start(on: lab.uplink, in: lab.directory)
        #expect(try await next.get("/healthz") == "ok\n")
        #expect(try await next.end() == 0)
    }

    @Test func `an address that is taken is refused`() async throws {
        let namespace = try await Uplink.make().namespace
        let first = try await RunningCommand.start(["serve", "--socket", "none", "--history", "none"], in: namespace)
        #expect(try await first.line() == "listening at http://127.0.0.1:9672/")
        try await Command.run(["serve", "--socket", "none", "--history", "none"], in: namespace)
            .expectRefusal("cannot listen at 127.0.0.1:9672: another program listens there", status: 69)
        first.signal(SIGTERM)
        #expect(try await first.result().status == 0)
    }

    @Test func `what cannot be listened at is refused`() async throws {
        try await Command.run(["serve", "--listen", "192.0.2.1:80", "--socket", "none", "--history", "none"])
            .expectRefusal(
                "cannot listen at 192.0.2.1:80: others could ask without saying who they are: name an address of the loopback, or say listen.https in the configuration"
            )
        try await Command.run(["serve", "--listen", "none", "--socket", "none", "--history", "none"])
            .expectRefusal("there is nothing to listen at: name an address with --listen or a path with --socket")
        try await Command.run(["serve", "--listen", "none", "--socket", "/nowhere/s", "--history", "none"])
            .expectRefusal("cannot listen at /nowhere/s: No such file or directory", status: 73)
    }
}

extension Uplink {
    /// Runs `ip` commands in one process.
    fileprivate func ip(batch commands: [String]) async throws {
        try await LabThread.detached { try self.namespace.ip(commands) }
    }
}

extension RunningCommand {
    /// When `ip -ts monitor` heard of something, on the wall clock.
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
