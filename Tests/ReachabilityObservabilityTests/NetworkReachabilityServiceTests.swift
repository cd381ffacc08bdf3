import KernelLab
import Logging
import NetworkReachability
import NetworkReachabilityTesting
import ReachabilityObservability
import ServiceLifecycle
import Testing

/// Reachability as a service of a service group.
@Suite struct NetworkReachabilityServiceTests {
    private struct Stop: Error {}

    private let kernel = FakeKernel.connected()

    @Test func `the service reports the state and its changes, and ends with the group`() async throws {
        let (paths, continuation) = AsyncStream.makeStream(of: NetworkPath.self)
        let service = NetworkReachabilityService(try NetworkReachabilityManager(kernel: kernel)) {
            continuation.yield($0)
        }
        let group = ServiceGroup(services: [service], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        var reader = paths.makeAsyncIterator()
        #expect(await reader.next()?.status == .reachable(.ethernetOrWiFi))
        kernel.setCarrier("eth0", false)
        #expect(await reader.next()?.reason == .noCarrier)
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test func `an error of the update handler ends the service`() async throws {
        let service = NetworkReachabilityService(try NetworkReachabilityManager(kernel: kernel)) { _ in throw Stop() }
        await #expect(throws: Stop.self) { try await service.run() }
    }
}
