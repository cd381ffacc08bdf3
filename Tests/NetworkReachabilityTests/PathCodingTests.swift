import Foundation
import KernelLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

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
    func `what is decoded is what was encoded`(host: String) throws {
        let path = try path(host)
        #expect(try JSONDecoder().decode(NetworkPath.self, from: JSONEncoder().encode(path)) == path)
        let unknown = NetworkPath(reason: .netlinkUnavailable)
        #expect(try JSONDecoder().decode(NetworkPath.self, from: JSONEncoder().encode(unknown)) == unknown)
    }

    @Test func `the keys are those of the command`() throws {
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

    @Test func `a line of the command is read`() throws {
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
    func `what is no path is refused`(text: String) {
        #expect(throws: DecodingError.self) { try decoded(text) }
    }
}
