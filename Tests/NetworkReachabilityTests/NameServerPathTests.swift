import Dispatch
import KernelLab
import LinuxSupport
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Whether names can be resolved, as far as this machine knows.
@Suite struct NameServerPathTests {
    /// A name service of which it is known where it looks.
    private struct ConfiguredResolver: HostResolver {
        let servers: String
        let order: String

        var configuration: ResolverConfiguration? {
            ResolverConfiguration(resolv: servers, order: order, upstream: nil)
        }
        func localAddresses(of name: String) -> [NameLookup.Address] { [] }
        func resolve(
            _ name: String,
            _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
        ) {}
        func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
            nil
        }
    }

    @Test(arguments: [
        ("nameserver 203.0.113.53", "hosts: files dns", true),
        ("nameserver 2001:db8::53\nnameserver 203.0.113.53", "", true),
        ("nameserver 2001:db8::53", "", false),
        ("", "", false),
        ("nameserver 203.0.113.53", "hosts: files", false),
    ])
    func `one server with a path is enough`(servers: String, order: String, isSupported: Bool) throws {
        let kernel = FakeKernel()
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
        let environment = MonitorEnvironment(
            kernel: kernel,
            clock: kernel.clock,
            resolver: ConfiguredResolver(servers: servers, order: order)
        )
        let options = NetworkReachabilityOptions()
        let monitor = PathMonitor(environment: environment)
        let manager = NetworkReachabilityManager(try Target(options: options), monitor: monitor, options: options)
        #expect(manager.supportsDNS == isSupported)
        #expect(manager.reachabilityQueue === monitor.queue)
        #expect(!manager.path.isConstrained)
        kernel.setCarrier("eth0", false)
        #expect(!manager.supportsDNS)
    }
}
