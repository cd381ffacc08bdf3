import NetworkLab
import Testing

@testable import NetworkReachability

/// A thread may be in another namespace than the process; whoever makes a manager there did not ask for that one. Each test has a
/// process of its own: threads that Dispatch starts for such a manager stay in that namespace.
@Suite struct ThreadNamespaceTests {
    @Test func `a manager is of the process's namespace, whichever thread makes it`() async {
        await #expect(processExitsWith: .success) {
            let uplink = try await Uplink.make()
            let (inside, loopback) = try await uplink.namespace.perform {
                let manager = try NetworkReachabilityManager(host: "203.0.113.9", options: NetworkReachabilityOptions())
                let names = try NetworkReachabilityManager(host: "localhost", options: NetworkReachabilityOptions())
                return (manager.path, names.path)
            }
            let options = NetworkReachabilityOptions()
            let outside = try NetworkReachabilityManager(host: "203.0.113.9", options: options).path
            #expect(inside.isSame(as: outside))
            #expect(loopback.isSame(as: try NetworkReachabilityManager(host: "localhost", options: options).path))
            var there = NetworkReachabilityOptions()
            there.networkNamespace = .path(uplink.namespace.path)
            #expect(
                try NetworkReachabilityManager(host: "203.0.113.9", options: there).path.interface?.name
                    != inside.interface?.name
            )
        }
    }

    @Test func `it shares the monitor of the process`() async {
        await #expect(processExitsWith: .success) {
            let uplink = try await Uplink.make()
            let inside = try await uplink.namespace.perform {
                try NetworkReachabilityManager(options: NetworkReachabilityOptions())
            }
            let outside = try NetworkReachabilityManager(options: NetworkReachabilityOptions())
            #expect(inside.record.monitor === outside.record.monitor)
            var there = NetworkReachabilityOptions()
            there.networkNamespace = .path(uplink.namespace.path)
            #expect(try NetworkReachabilityManager(options: there).record.monitor !== inside.record.monitor)
        }
    }
}
