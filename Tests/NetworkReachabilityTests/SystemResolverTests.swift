import Netlink
import NetworkLab
import Testing

@testable import NetworkReachability

/// The system's name service in another namespace.
@Suite struct SystemResolverTests {
    @Test func whoeverAskedIsToldOutsideOfTheNamespace() async throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let home = try NamespaceIdentity(path: "/proc/self/ns/net")
        let resolver = SystemResolver(namespace: NamespaceReference(path: namespace.path))
        let place = await withCheckedContinuation { told in
            resolver.resolve("localhost") { _ in told.resume(returning: NamespaceIdentity.current) }
        }
        #expect(place == home)
        #expect(try NamespaceIdentity(path: namespace.path) != home)
    }
}
