import LinuxSupport
import NetworkLab
import NetworkReachability
import Testing

@testable import ReachabilityChecks

/// A continuous check on a real line.
@Suite struct ContinuousCheckTests {
    @Test func `a cable that is disconnected and reconnected is notified`() async throws {
        let line = try await ProbedLine.make(.ipv4)
        defer { line.close() }
        let server = try await LabThread.detached {
            try NameServer(
                in: line.provider,
                at: ["203.0.113.7"],
                zone: ["ipv4only.arpa": ["192.0.0.170", "192.0.0.171"]]
            )
        }
        defer { server.stop() }
        var options = CheckOptions()
        options.networkNamespace = .path(line.pc.path)
        options.nameServers = [Situation.host]
        options.family = .ipv4
        // A busy machine must not look like a broken line.
        options.timeLimit = .seconds(15)
        var notified: [CheckVerdict] = []
        for await verdict in NetworkCheck(options: options).verdicts {
            notified.append(verdict)
            switch notified.count {
            case 1: try await LabThread.detached { try line.gateway.ip("link set g0 down") }
            case 2: try await LabThread.detached { try line.gateway.ip("link set g0 up") }
            default: break
            }
            if notified.count == 3 { break }
        }
        #expect(notified.map(\.failurePoint) == [.works, .link, .works], "\(notified.map(\.text))")
        #expect(notified[1].reason.rawValue == "noCarrier" && notified[1].confidence == .proven)
    }

    @Test func `the verdict is inconclusive if no probe can be sent`() async throws {
        var options = CheckOptions()
        options.networkNamespace = .path("/nowhere")
        let verdict = await NetworkCheck(options: options).verdicts.first { _ in true }
        #expect(verdict.map { !$0.isWorking && !$0.text.isEmpty } == true, "\(String(describing: verdict))")
    }
}
