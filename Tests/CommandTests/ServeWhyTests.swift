import Foundation
import NetworkLab
import Testing

/// `/v1/why/NAME` beside `reachability why --json`.
@Suite struct ServeWhyTests {
    @Test func `the service says what the command says`() async throws {
        let lab = try await ServeLab.start()
        for isConnected in [true, false] {
            if !isConnected {
                try await lab.uplink.setConnected(false)
                #expect(
                    try await eventually {
                        // What was told a second ago may be told again.
                        try await lab.object("/v1/why/internet")["status"] as? String == "notReachable"
                    }
                )
            }
            let served = try await lab.object("/v1/why/internet")
            let result = try await Command.run(["why", "--json"], in: lab.uplink.namespace)
            let object = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            let said = try #require(object as? [String: any Sendable])
            #expect(Set(served.keys) == Set(said.keys).union(["account"]))
            for key in ["target", "status", "reason", "broken", "remedy", "kind"] {
                #expect(served[key] as? String == said[key] as? String, "\(key)")
            }
            func summaries(_ object: [String: any Sendable]) -> [String] {
                (object["steps"] as? [[String: Any]] ?? []).compactMap { $0["summary"] as? String }
            }
            #expect(summaries(served) == summaries(said))
            #expect(!summaries(served).isEmpty)
        }
        #expect(try await lab.end() == 0)
    }
}
