import Dispatch
import NetworkLab
import NetworkReachability
import Testing

/// What programs written for Alamofire 4, and before it for AFNetworking, do. Public interface only.
@Suite struct AlamofireFormerTests {
    private static let reachable = NetworkReachabilityManager.NetworkReachabilityStatus.reachable(.ethernetOrWiFi)

    /// A manager of the network at large in a network of its own.
    private func manager(in network: AlamofireNetwork) async throws -> NetworkReachabilityManager {
        try #require(try await network.make { NetworkReachabilityManager() })
    }

    @Test func `a listener that is set is told, on the queue that is set`() async throws {
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

    @Test func `the main queue is the queue`() async throws {
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

    @Test func `a listener may be set after the start, and replaced`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        let (first, second) = (AlamofireRecorder(), AlamofireRecorder())
        manager.listenerQueue = DispatchQueue(label: "former")
        manager.startListening()
        manager.listener = first.record
        try await network.setConnected(false)
        #expect(try await first.isLast(.notReachable))
        manager.listener = second.record
        try await network.setConnected(true)
        #expect(try await second.statuses(atLeast: 1) == [Self.reachable])
        #expect(first.statuses.last == .notReachable)
        manager.listener = nil
        try await network.setConnected(false)
        #expect(manager.status == .notReachable)
    }

    @Test func `the former names tell the same`() async throws {
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

    @Test func `AFNetworking's text is for people`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        #expect(!manager.localizedNetworkReachabilityStatusString.isEmpty)
        let before = manager.localizedNetworkReachabilityStatusString
        try await network.setConnected(false)
        #expect(manager.localizedNetworkReachabilityStatusString == "Not Reachable")
        #expect(before != "Not Reachable")
    }

    @Test func `listeners beside each other, each until it is let go`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        let (first, second) = (AlamofireRecorder(), AlamofireRecorder())
        let queue = DispatchQueue(label: "listeners")
        var token: NetworkReachabilityToken? = manager.addListener(onQueue: queue, first.record)
        let other = manager.addListener(onQueue: queue, second.record)
        #expect(!manager.isListening)
        #expect(try await first.statuses(atLeast: 1) == [Self.reachable])
        #expect(try await second.statuses(atLeast: 1) == [Self.reachable])
        withExtendedLifetime(token) {}
        token = nil
        try await network.setConnected(false)
        #expect(try await second.statuses(atLeast: 2) == [Self.reachable, .notReachable])
        #expect(first.statuses == [Self.reachable])
        other.cancel()
        other.cancel()
    }

    @Test func `stopping the one listener leaves the others`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await manager(in: network)
        let recorder = AlamofireRecorder()
        let token = manager.addListener(onQueue: DispatchQueue(label: "listener"), recorder.record)
        manager.startListening()
        manager.stopListening()
        try await network.setConnected(false)
        let isTold = try await eventually { recorder.statuses.last == .notReachable }
        #expect(isTold)
        token.cancel()
    }
}
