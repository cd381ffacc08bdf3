import Dispatch
import KernelLab
import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

/// The API of Apple's Network framework.
@Suite struct NWPathMonitorTests {
    private func world(_ options: NetworkReachabilityOptions = .init()) throws -> (FakeKernel, NWPathMonitor) {
        let kernel = FakeKernel()
        kernel.addLink("eth0")
        kernel.addAddress("192.0.2.7/24", to: "eth0")
        kernel.addRoute("default", via: "192.0.2.1")
        return (kernel, NWPathMonitor(try NetworkReachabilityManager(kernel: kernel, options: options)))
    }

    @Test func `the current path has status, interfaces, families and gateways`() throws {
        let (kernel, monitor) = try world()
        let path = monitor.currentPath
        #expect(path.status == .satisfied)
        #expect(path.availableInterfaces.map(\.name) == ["eth0"])
        #expect(path.usesInterfaceType(.wiredEthernet) && !path.usesInterfaceType(.wifi))
        #expect(path.supportsIPv4 && !path.supportsIPv6)
        #expect(!path.isExpensive && !path.isConstrained)
        #expect(path.gateways == [.hostPort(host: .ipv4(try #require(IPAddress("192.0.2.1"))), port: 0)])
        #expect(path.debugDescription.hasPrefix("satisfied (Path is satisfied), interface: eth0, ipv4"))
        kernel.setCarrier("eth0", false)
        let lost = monitor.currentPath
        #expect(lost.status == .unsatisfied && lost.availableInterfaces.isEmpty && lost.gateways.isEmpty)
        #expect(lost.debugDescription == "unsatisfied (No network route)")
    }

    @Test func `the handler is called with the current path, each change, and not after cancel`() async throws {
        let (kernel, monitor) = try world()
        let (queue, statuses) = (DispatchQueue(label: "test"), Locked<[NWPath.Status]>([]))
        monitor.pathUpdateHandler = { path in statuses.withLock { $0.append(path.status) } }
        #expect(monitor.queue == nil)
        monitor.start(queue: queue)
        monitor.start(queue: .main)
        #expect(monitor.queue === queue)
        #expect(try await eventually { statuses.withLock { $0 == [.satisfied] } })
        kernel.setCarrier("eth0", false)
        #expect(try await eventually { statuses.withLock { $0 == [.satisfied, .unsatisfied] } })
        kernel.setCarrier("eth0", true)
        #expect(try await eventually { statuses.withLock { $0 == [.satisfied, .unsatisfied, .satisfied] } })
        monitor.cancel()
        #expect(monitor.pathUpdateHandler == nil)
        kernel.setCarrier("eth0", false)
        queue.sync {}
        monitor.start(queue: queue)
        #expect(statuses.withLock(\.count) == 3)
        #expect(monitor.currentPath.status == .unsatisfied)
    }

    @Test func `a loop receives the current path and each change`() async throws {
        let (kernel, monitor) = try world()
        var iterator = monitor.makeAsyncIterator()
        #expect(await iterator.next()?.status == .satisfied)
        kernel.setCarrier("eth0", false)
        #expect(await iterator.next()?.status == .unsatisfied)
    }

    @Test(arguments: [
        (InterfaceType.ethernet, NWInterface.InterfaceType.wiredEthernet), (.wiredVirtual, .wiredEthernet),
        (.wiFi, .wifi), (.wwan, .cellular), (.loopback, .loopback), (.tunnel, .other), (.other, .other),
    ])
    func `each type has a counterpart of Apple's`(type: InterfaceType, counterpart: NWInterface.InterfaceType) {
        #expect(NWInterface.InterfaceType(type) == counterpart)
    }

    @Test func `a prohibited type is not satisfied`() throws {
        var options = NetworkReachabilityOptions()
        options.prohibitedInterfaceTypes = [.ethernet]
        #expect(try world(options).1.currentPath.status == .unsatisfied)
        options.prohibitedInterfaceTypes = [.wiFi]
        #expect(try world(options).1.currentPath.status == .satisfied)
    }
}
