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

/// A virtual cable is unplugged and plugged in during a request.
@Suite(.timeLimit(.minutes(15))) struct CableTests {
    /// Runs in a separate process, because threads that Dispatch starts from a thread in the namespace remain in the
    /// namespace.
    @Test func `no attempt is made while the cable is unplugged, and one at once when it is plugged in`() async {
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
        let coordinator = RetryCoordinator(reachability: NetlinkReachabilityProvider(options: options))
        // A new thread is in the namespace of its creator. A new socket is in the namespace of its thread.
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
                // The kernel may report the loss up to a second later. Before that, attempts are made.
                let isLost = try await eventually {
                    coordinator.reachabilityOnce(of: "10.9.0.2").status == .notReachable
                }
                #expect(isLost)
                let adapter = FaultAdapter([], id: "")
                var request = HTTPClientRequest(url: "http://10.9.0.2:8080/")
                // The next round must not find a connection in the pool.
                request.headers.add(name: "Connection", value: "close")
                let retry = RequestRetryOptions(adapter: adapter, coordinator: coordinator)
                // The client creates a socket in the calling thread.
                async let outcome = withTaskExecutorPreference(executor) { [request] in
                    try await client.execute(request, retry: .standard, options: retry)
                }
                let isWaiting = try await eventually(every: .milliseconds(1)) {
                    coordinator.waitingCount(for: "10.9.0.2") == 1
                }
                #expect(isWaiting)
                let failed = ContinuousClock.now
                try await Task.sleep(until: failed + outage)
                // The latest possible time before packets flow again.
                let back = ContinuousClock.now
                try cable.server.ip("link set s0 up")
                let (response, attempts) = try await (outcome.value, outcome.attempts)
                let arrival = try #require(faults.received.last?.time)
                #expect(response.status == .ok)
                // An early connection may need a second attempt. No attempt may be made while the cable is unplugged.
                let times = adapter.times
                #expect(times.count == attempts.count - 1 && times.allSatisfy { $0 >= back })
                #expect(attempts.first?.stage == .neverSent && attempts.first?.reason == .unreachable)
                #expect(attempts.first?.reachability?.reason?.rawValue == "noCarrier")
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
