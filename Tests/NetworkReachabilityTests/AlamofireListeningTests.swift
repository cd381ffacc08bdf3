import Dispatch
import NetworkLab
import NetworkReachability
import Testing

/// Listening as programs written for Alamofire 5 expect it. Uses only the public interface.
@Suite struct AlamofireListeningTests {
    private static let reachable = NetworkReachabilityManager.NetworkReachabilityStatus.reachable(.ethernetOrWiFi)

    /// The targets that a program can have: general reachability, an address, a name.
    enum Sort: CaseIterable {
        case general, address, name

        func make(in network: AlamofireNetwork) async throws -> NetworkReachabilityManager {
            let manager = try await network.make {
                switch self {
                case .general: NetworkReachabilityManager()
                case .address: NetworkReachabilityManager(host: "203.0.113.9")
                case .name: NetworkReachabilityManager(host: "localhost")
                }
            }
            return try #require(manager)
        }
    }

    @Test(arguments: Sort.allCases)
    func `each start of listening reports the current status`(sort: Sort) async throws {
        let network = try await AlamofireNetwork()
        let manager = try await sort.make(in: network)
        for _ in 0..<3 {
            let recorder = AlamofireRecorder()
            #expect(manager.startListening(onUpdatePerforming: recorder.record))
            #expect(try await recorder.statuses(atLeast: 1) == [Self.reachable])
            manager.stopListening()
        }
        #expect(manager.status == Self.reachable)
    }

    @Test func `a listener is called on the main queue by default`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await Sort.general.make(in: network)
        let recorder = AlamofireRecorder()
        manager.startListening { status in
            dispatchPrecondition(condition: .onQueue(.main))
            recorder.record(status)
        }
        #expect(try await recorder.statuses(atLeast: 1) == [Self.reachable])
    }

    @Test(arguments: Sort.allCases)
    func `a released manager releases its listener`(sort: Sort) async throws {
        let network = try await AlamofireNetwork()
        weak var released: NetworkReachabilityManager?
        weak var listener: AlamofireRecorder?
        do {
            let manager = try await sort.make(in: network)
            let recorder = AlamofireRecorder()
            manager.startListening(onUpdatePerforming: recorder.record)
            _ = try await recorder.statuses(atLeast: 1)
            (released, listener) = (manager, recorder)
        }
        // The call that delivered the status may still be returning, and retains both until then.
        try await waitUntil { released == nil }
        try await waitUntil { listener == nil }
    }
}

/// Listening as programs written for Alamofire 4 and for AFNetworking expect it. Uses only the public interface.
@Suite struct AlamofireFormerTests {
    private static let reachable = NetworkReachabilityManager.NetworkReachabilityStatus.reachable(.ethernetOrWiFi)

    /// Creates a manager of general reachability in a separate network.
    private func manager(in network: AlamofireNetwork) async throws -> NetworkReachabilityManager {
        try #require(try await network.make { NetworkReachabilityManager() })
    }

    @Test func `the listener property is called on listenerQueue`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        let recorder = AlamofireRecorder()
        let queue = DispatchQueue(label: "former")
        #expect(manager.listener == nil)
        manager.listenerQueue = queue
        manager.listener = { status in
            dispatchPrecondition(condition: .onQueue(queue))
            recorder.record(status)
        }
        #expect(manager.listenerQueue === queue)
        #expect(manager.listener != nil)
        let hasStarted: Bool = manager.startListening()
        #expect(hasStarted)
        #expect(manager.isListening)
        #expect(try await recorder.statuses(atLeast: 1) == [Self.reachable])
        try await network.setConnected(false)
        #expect(try await recorder.statuses(atLeast: 2) == [Self.reachable, .notReachable])
        manager.stopListening()
        #expect(!manager.isListening)
    }

    @Test func `listenerQueue is the main queue by default`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        let recorder = AlamofireRecorder()
        #expect(manager.listenerQueue.label == DispatchQueue.main.label)
        manager.listener = { status in
            dispatchPrecondition(condition: .onQueue(.main))
            recorder.record(status)
        }
        manager.startListening()
        #expect(try await recorder.statuses(atLeast: 1) == [Self.reachable])
    }

    @Test func `the Alamofire 4 names return the same values`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        #expect(manager.networkReachabilityStatus == Self.reachable)
        #expect(manager.isReachable)
        #expect(manager.isReachableOnEthernetOrWiFi)
        #expect(!manager.isReachableOnWWAN)
        let type: NetworkReachabilityManager.ConnectionType = .wwan
        #expect(type == .cellular)
        switch manager.networkReachabilityStatus {
        case .unknown, .notReachable, .reachable(.wwan): Issue.record("\(manager.networkReachabilityStatus)")
        case .reachable(.ethernetOrWiFi): break
        }
    }

    @Test func `the localized text describes the status`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        #expect(!manager.localizedNetworkReachabilityStatusString.isEmpty)
        let before = manager.localizedNetworkReachabilityStatusString
        try await network.setConnected(false)
        #expect(manager.localizedNetworkReachabilityStatusString == "Not Reachable")
        #expect(before != "Not Reachable")
    }
}
