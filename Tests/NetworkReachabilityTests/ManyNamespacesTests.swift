import Dispatch
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// Many namespaces in one process, and none kept alive by it.
@Suite struct ManyNamespacesTests {
    private let directory: NamespaceDirectory
    private let witness: LabNamespace

    init() async throws {
        directory = try NamespaceDirectory()
        witness = try await LabThread.detached { try LabNamespace() }
    }

    private func make(_ name: String) async throws -> WitnessedNamespace {
        try await LabThread.detached { [directory, witness] in
            try WitnessedNamespace(name, in: directory.path, witness: witness, mark: "w-\(name)")
        }
    }

    @Test func `twenty at once: each has its own answers, and a change is told only there`() async throws {
        var all: [(WitnessedNamespace, NetworkReachabilityManager, AlamofireRecorder)] = []
        for index in 0..<20 {
            let namespace = try await make("n\(index)")
            // Every other one begins without routes.
            if index % 2 == 1 { try await namespace.uplink.setConnected(false) }
            let manager = try NetworkReachabilityManager(options: namespace.options)
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
            all.append((namespace, manager, recorder))
        }
        func answer(_ index: Int) -> NetworkReachabilityStatus {
            index % 2 == 1 ? .notReachable : .reachable(.ethernetOrWiFi)
        }
        for (index, (_, manager, recorder)) in all.enumerated() {
            #expect(manager.status == answer(index))
            #expect(try await recorder.statuses(atLeast: 1) == [answer(index)])
        }
        for changed in [4, 7] {
            try await all[changed].0.uplink.setConnected(changed == 7)
            #expect(try await all[changed].2.statuses(atLeast: 2) == [answer(changed), answer(changed + 1)])
        }
        all[11].0.delete()
        #expect(try await all[11].2.statuses(atLeast: 2) == [.notReachable, .unknown])
        #expect(try await all[11].0.isFreed())
        for (index, (_, _, recorder)) in all.enumerated() where ![4, 7, 11].contains(index) {
            #expect(recorder.statuses == [answer(index)])
        }
        for (namespace, _, _) in all { namespace.delete() }
        for (namespace, manager, recorder) in all {
            #expect(try await recorder.isLast(.unknown))
            #expect(manager.path.reason == .namespaceGone)
            #expect(try await namespace.isFreed())
        }
    }

    @Test func `twenty rounds under one name`() async throws {
        var namespace = try await make("again")
        let manager = try NetworkReachabilityManager(options: namespace.options)
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        #expect(try await recorder.isLast(.reachable(.ethernetOrWiFi)))
        for round in 0..<20 {
            namespace.delete()
            if round % 2 == 0 { #expect(try await recorder.isLast(.unknown)) }
            let previous = namespace
            namespace = try await LabThread.detached { [directory, witness] in
                try WitnessedNamespace("again", in: directory.path, witness: witness, mark: "w-\(round)")
            }
            #expect(try await previous.isFreed())
            try await namespace.uplink.setConnected(false)
            #expect(try await recorder.isLast(.notReachable))
            try await namespace.uplink.setConnected(true)
            #expect(try await recorder.isLast(.reachable(.ethernetOrWiFi)))
        }
        namespace.delete()
        #expect(try await namespace.isFreed())
    }

    @Test func `a manager nobody listens to keeps none alive either`() async throws {
        let namespace = try await make("idle")
        let manager = try NetworkReachabilityManager(options: namespace.options)
        #expect(manager.isReachable)
        // It has listened and stopped.
        manager.startListening(onQueue: DispatchQueue(label: "listener")) { _ in }
        manager.stopListening()
        let other = try await make("idle-too")
        let asked = try NetworkReachabilityManager(options: other.options)
        #expect(asked.isReachable)
        for namespace in [namespace, other] {
            namespace.delete()
            #expect(try await namespace.isFreed())
        }
        #expect(manager.path.reason == .namespaceGone)
        #expect(asked.path.reason == .namespaceGone)
    }

    @Test func `a name in a directory that went away and came back is watched again`() async throws {
        let recorder = AlamofireRecorder()
        var namespace = try await make("back")
        let manager = try NetworkReachabilityManager(options: namespace.options)
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        for _ in 0..<3 {
            #expect(try await recorder.isLast(.reachable(.ethernetOrWiFi)))
            namespace.delete()
            directory.remove()
            #expect(try await recorder.isLast(.unknown))
            #expect(try await namespace.isFreed())
            directory.make()
            namespace = try await make("back")
        }
        namespace.delete()
    }
}
