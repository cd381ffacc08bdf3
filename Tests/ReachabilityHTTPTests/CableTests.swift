import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NetworkLab
import NetworkReachability
import TestSupport
import Testing

@testable import ReachabilityHTTP
@testable import ReachabilityRetry

/// A real cable is pulled and put back while a request is under way.
@Suite(.timeLimit(.minutes(15))) struct CableTests {
    /// In a process of its own: threads that Dispatch starts for those in the namespace stay there.
    @Test func `nothing is tried while the cable is out, and at once when it is back`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            try await Self.pull(LossyCable())
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        print(output.split(separator: "\n").last { $0.hasPrefix("cable") } ?? "no figure")
    }

    private static func pull(_ cable: LossyCable) async throws {
        let faults = try ScriptedServer.faults(in: cable.server, at: "10.9.0.2", port: 8080)
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(cable.client.path)
        let coordinator = RetryCoordinator(verdicts: MonitoredVerdicts(options: options))
        // Threads are in the namespace of the thread that makes them, and sockets in that of theirs.
        let group = try await cable.client.perform { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
        let executor = LoopExecutor(group.any())
        var configuration = HTTPLab.configuration
        configuration.timeout.connect = .milliseconds(200)
        var delays: [Duration] = []
        var theirs: [Duration] = []
        try await withClient(configuration, group: group) { client in
            for round in 0..<7 {
                let outage = Duration.milliseconds(700 + 350 * round)
                try cable.server.ip("link set s0 down")
                // The kernel may report the loss a second later. Until then an attempt is made.
                let isLost = try await eventually { coordinator.askOnce("10.9.0.2").status == .notReachable }
                #expect(isLost)
                let adapter = FaultAdapter([], id: "")
                var request = HTTPClientRequest(url: "http://10.9.0.2:8080/")
                // The next round is not to find a connection in the pool.
                request.headers.add(name: "Connection", value: "close")
                let retry = RequestRetryOptions(adapter: adapter, coordinator: coordinator)
                // The client makes a socket in the thread that asks for it.
                async let outcome = withTaskExecutorPreference(executor) { [request] in
                    try await client.execute(request, retry: .standard, options: retry)
                }
                let isWaiting = try await eventually(every: .milliseconds(1)) {
                    coordinator.waitingCount(for: "10.9.0.2") == 1
                }
                #expect(isWaiting)
                let failed = ContinuousClock.now
                try await Task.sleep(until: failed + outage)
                // As late as can be: not before this packets flow again.
                let back = ContinuousClock.now
                try cable.server.ip("link set s0 up")
                let (response, attempts) = try await (outcome.value, outcome.attempts)
                let arrival = try #require(faults.received.last?.time)
                #expect(response.status == .ok)
                // A connection that is made too early may need a second attempt; none may be made while the cable is out.
                let times = adapter.times
                #expect(times.count == attempts.count - 1 && times.allSatisfy { $0 >= back })
                #expect(attempts.first?.stage == .neverSent && attempts.first?.reason == .unreachable)
                #expect(attempts.first?.verdict?.reason?.rawValue == "noCarrier")
                #expect(arrival >= back)
                #expect(faults.received.count == round + 1)
                delays.append(arrival - back)
                theirs.append(try AlamofireArithmetic.delay(afterOutage: back - failed))
                _ = try await response.body.collect(upTo: 1000)
            }
        }
        try await group.shutdownGracefully()
        faults.stop()
        let median = delays.sorted()[delays.count / 2]
        let theirMedian = theirs.sorted()[theirs.count / 2]
        print(
            "cable back in to the request at the server, median of \(delays.count): \(median),",
            "Alamofire's arithmetic without its limit: \(theirMedian), \((theirMedian / median).rounded()) times"
        )
        cable.close()
    }
}
