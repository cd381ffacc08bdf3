import Dispatch
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachability
import Synchronization
import Testing

/// Ending at the worst moments.
@Suite(.timeLimit(.minutes(15))) struct SurvivalEndingTests {
    /// Holds a manager until its listener lets it go.
    private final class Holder: Sendable {
        let manager: Locked<NetworkReachabilityManager?> = Locked(nil)
        let calls = Atomic(0)

        func release() {
            let manager = manager.withLock { manager in
                defer { manager = nil }
                return manager
            }
            withExtendedLifetime(manager) {}
        }
    }

    @Test func `a listener stops its own listening`() async throws {
        let network = try await AlamofireNetwork()
        for _ in 0..<200 {
            let manager = try #require(try await network.make { NetworkReachabilityManager(host: "203.0.113.9") })
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "listener")) { [weak manager] status in
                manager?.stopListening()
                recorder.record(status)
            }
            #expect(try await recorder.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
            #expect(!manager.isListening)
        }
        try await network.setConnected(false)
    }

    @Test func `a listener lets its manager go`() async throws {
        let network = try await AlamofireNetwork()
        for index in 0..<200 {
            let holder = Holder()
            let manager = try await network.make {
                NetworkReachabilityManager(host: index % 2 == 0 ? "203.0.113.9" : "localhost")
            }
            weak let released = manager
            holder.manager.withLock { $0 = manager }
            try #require(manager).startListening(onQueue: DispatchQueue(label: "listener")) { _ in
                holder.release()
                holder.calls.add(1, ordering: .releasing)
            }
            _ = consume manager
            #expect(try await eventually(every: .milliseconds(1)) { released == nil })
            let isCalled = try await eventually(every: .milliseconds(1)) {
                holder.calls.load(ordering: .acquiring) == 1
            }
            #expect(isCalled)
        }
    }

    @Test func `a listener starts itself again`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try #require(try await network.make { NetworkReachabilityManager() })
        let (first, second) = (AlamofireRecorder(), AlamofireRecorder())
        let queue = DispatchQueue(label: "listener")
        manager.startListening(onQueue: queue) { [weak manager] status in
            first.record(status)
            manager?.startListening(onQueue: queue, onUpdatePerforming: second.record)
        }
        #expect(try await second.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
        try await network.setConnected(false)
        #expect(try await second.statuses(atLeast: 2).last == .notReachable)
        #expect(first.statuses == [.reachable(.ethernetOrWiFi)])
    }

    @Test func `a namespace is deleted while managers listen`() async throws {
        let network = try await AlamofireNetwork()
        let name = "survival-\(UInt64.random(in: 0 ... .max))"
        let entry = try await LabThread.detached { try NamespaceName(name, for: network.uplink.namespace) }
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .named(name)
        var listening: [(NetworkReachabilityManager, AlamofireRecorder)] = []
        for index in 0..<20 {
            let manager = try NetworkReachabilityManager(host: "203.0.113.\(index)", options: options)
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
            listening.append((manager, recorder))
        }
        for (_, recorder) in listening {
            #expect(try await recorder.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
        }
        entry.remove()
        network.uplink.namespace.close()
        for (manager, recorder) in listening {
            #expect(try await recorder.statuses(atLeast: 2) == [.reachable(.ethernetOrWiFi), .unknown])
            #expect(manager.path.reason == .namespaceGone)
        }
    }

    @Test func `eight threads start, stop and ask under a flapping route`() async throws {
        let network = try await AlamofireNetwork()
        let hosts = ["203.0.113.9", "localhost", "2001:db8:9::9", nil]
        let managers = try await network.make {
            hosts.compactMap { $0.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager() }
        }
        let stress = SurvivalStress()
        try await withThrowingTaskGroup { group in
            for thread in 0..<8 {
                group.addTask { try await LabThread.detached { stress.run(managers, from: thread) } }
            }
            let deadline = Deadline(after: .seconds(2))
            while !deadline.hasPassed {
                try await network.setConnected(false)
                try await network.setConnected(true)
            }
            stress.end()
            try await group.waitForAll()
        }
        // After all that, each manager still serves a listener.
        for manager in managers {
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "after"), onUpdatePerforming: recorder.record)
            let isTold = try await eventually {
                recorder.statuses.last == .reachable(.ethernetOrWiFi)
            }
            #expect(isTold, "\(recorder.statuses)")
        }
        print("survival: \(stress.deliveries) deliveries in two seconds of stress")
    }
}
