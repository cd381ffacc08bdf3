import Dispatch
import Testing

@testable import KernelLab
@testable import NetworkReachability
@testable import NetworkReachabilityTesting

@Suite("What waits for a listener's queue")
struct DeliveryQueueTests {
    private let queue = DeliveryQueue(.status)
    private let reachable = NetworkPath(flags: .reachable)
    private let lost = NetworkPath(flags: [])

    @Test("Up to the limit everything waits, in order")
    func order() {
        for number in 0..<DeliveryQueue.limit { #expect(queue.put(number % 2 == 0 ? reachable : lost, since: nil)) }
        for number in 0..<DeliveryQueue.limit {
            #expect(queue.take()?.path == (number % 2 == 0 ? reachable : lost))
        }
    }

    @Test("Behind the limit the latest counts, and never the same twice", arguments: 0..<4)
    func latest(surplus: Int) {
        let count = DeliveryQueue.limit + surplus
        let calls = (0..<count).count { queue.put($0 % 2 == 0 ? reachable : lost, since: .seconds($0)) }
        #expect(calls == DeliveryQueue.limit)
        var told: [NetworkPath] = []
        for _ in 0..<calls { if let call = queue.take() { told.append(call.path) } }
        #expect(told.last == (count % 2 == 1 ? reachable : lost))
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test("A listener whose queue is blocked during a storm hears the latest in the end")
    func blocked() throws {
        let kernel = FakeKernel()
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
        let queue = DispatchQueue(label: "listener")
        let listener = RecordingListener<NetworkReachabilityStatus>()
        let manager = try NetworkReachabilityManager(kernel: kernel)
        manager.startListening(onQueue: queue, onUpdatePerforming: listener.record)
        let settle = { manager.record.monitor.queue.sync {} }
        settle()
        queue.sync {}
        queue.suspend()
        for _ in 0..<1000 {
            kernel.setCarrier("eth0", false)
            settle()
            kernel.setCarrier("eth0", true)
            settle()
        }
        kernel.setCarrier("eth0", false)
        settle()
        queue.resume()
        queue.sync {}
        #expect(listener.values.count <= DeliveryQueue.limit + 1)
        #expect(listener.values.last == .notReachable)
        #expect(zip(listener.values, listener.values.dropFirst()).allSatisfy { $0 != $1 })
    }
}
