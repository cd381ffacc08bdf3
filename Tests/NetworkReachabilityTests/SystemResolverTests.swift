import Dispatch
import Foundation
import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// The system's name service in another namespace.
@Suite struct SystemResolverTests {
    @Test(.enabled(if: NamespaceSettings.isPermitted))
    func `files that a namespace gets later are noticed, and so is what they hold then`() throws {
        let name = "resolver-\(getpid())"
        let directory = "/etc/netns/\(name)"
        let resolver = SystemResolver(namespace: NamespaceReference(path: "/run/netns/\(name)"))
        let heard = RecordingListener<ResolverConfiguration?>()
        let watch = resolver.watchConfiguration(on: DispatchQueue(label: "SystemResolverTests")) {
            heard.record(resolver.configuration)
        }
        #expect(mkdir(directory, 0o755) == 0)
        defer { rmdir(directory) }
        #expect(heard.waitForCount(1))
        for server in ["192.0.2.53", "192.0.2.54"] {
            try "nameserver \(server)\n".write(toFile: "\(directory)/resolv.conf", atomically: false, encoding: .utf8)
            let start = ContinuousClock.now
            while heard.last??.servers.map(\.description) != [server], ContinuousClock.now - start < .seconds(30) {
                usleep(1000)
            }
            #expect(heard.last??.servers.map(\.description) == [server])
        }
        let before = heard.count
        #expect(unlink("\(directory)/resolv.conf") == 0)
        #expect(heard.waitForCount(before + 1))
        withExtendedLifetime(watch) {}
    }

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
