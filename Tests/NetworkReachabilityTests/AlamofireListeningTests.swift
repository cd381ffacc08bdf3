import Dispatch
import NetworkLab
import NetworkReachability
import Testing

/// What programs written for Alamofire 5 expect of listening. Public interface only.
@Suite struct AlamofireListeningTests {
    private static let reachable = NetworkReachabilityManager.NetworkReachabilityStatus.reachable(.ethernetOrWiFi)

    /// A manager of each sort a program may have: of the network at large, of an address, of a name.
    enum Sort: CaseIterable {
        case atLarge, address, name

        func make(in network: AlamofireNetwork) async throws -> NetworkReachabilityManager {
            let manager = try await network.make {
                switch self {
                case .atLarge: NetworkReachabilityManager()
                case .address: NetworkReachabilityManager(host: "203.0.113.9")
                case .name: NetworkReachabilityManager(host: "localhost")
                }
            }
            return try #require(manager)
        }
    }

    @Test(arguments: Sort.allCases)
    func `a listener is told at once, and a restarted one again`(sort: Sort) async throws {
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

    @Test(arguments: [Sort.atLarge, .address])
    func `a listener is told of each change, once`(sort: Sort) async throws {
        let network = try await AlamofireNetwork()
        let manager = try await sort.make(in: network)
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        var expected = [Self.reachable]
        #expect(try await recorder.statuses(atLeast: 1) == expected)
        for _ in 0..<4 {
            try await network.setConnected(false)
            expected.append(.notReachable)
            #expect(try await recorder.statuses(atLeast: expected.count) == expected)
            try await network.uplink.ip("link add v0 type veth peer name v1", "link del v0")
            try await network.setConnected(true)
            expected.append(Self.reachable)
            #expect(try await recorder.statuses(atLeast: expected.count) == expected)
        }
    }

    @Test func `the main queue is where listeners run unless told otherwise`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await Sort.atLarge.make(in: network)
        let recorder = AlamofireRecorder()
        manager.startListening { status in
            dispatchPrecondition(condition: .onQueue(.main))
            recorder.record(status)
        }
        #expect(try await recorder.statuses(atLeast: 1) == [Self.reachable])
    }

    @Test func `a queue of one's own is kept to`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await Sort.atLarge.make(in: network)
        let recorder = AlamofireRecorder()
        let queue = DispatchQueue(label: "mine")
        manager.startListening(onQueue: queue) { status in
            dispatchPrecondition(condition: .onQueue(queue))
            recorder.record(status)
        }
        try await network.setConnected(false)
        #expect(try await recorder.isLast(.notReachable))
    }

    @Test func `after stopping nothing is told`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await Sort.atLarge.make(in: network)
        let (stopped, other) = (AlamofireRecorder(), AlamofireRecorder())
        let queue = DispatchQueue(label: "listener")
        manager.startListening(onQueue: queue, onUpdatePerforming: stopped.record)
        _ = try await stopped.statuses(atLeast: 1)
        manager.stopListening()
        manager.stopListening()
        // Another manager of the same target shows when the change has been told.
        let witness = try await Sort.atLarge.make(in: network)
        witness.startListening(onQueue: queue, onUpdatePerforming: other.record)
        _ = try await other.statuses(atLeast: 1)
        try await network.setConnected(false)
        #expect(try await other.statuses(atLeast: 2).last == .notReachable)
        #expect(stopped.statuses == [Self.reachable])
    }

    @Test func `a second listener takes the place of the first`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try await Sort.atLarge.make(in: network)
        let (first, second) = (AlamofireRecorder(), AlamofireRecorder())
        manager.startListening(onUpdatePerforming: first.record)
        _ = try await first.statuses(atLeast: 1)
        manager.startListening(onUpdatePerforming: second.record)
        _ = try await second.statuses(atLeast: 1)
        try await network.setConnected(false)
        #expect(try await second.statuses(atLeast: 2) == [Self.reachable, .notReachable])
        #expect(first.statuses == [Self.reachable])
    }

    @Test(arguments: Sort.allCases)
    func `letting go of a manager that listens ends both`(sort: Sort) async throws {
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
        // The call that told the status may still be on its way back, and holds both until then.
        #expect(try await eventually { released == nil })
        #expect(try await eventually { listener == nil })
    }

    @Test func `many managers of one target are all told`() async throws {
        let network = try await AlamofireNetwork()
        var listening: [(NetworkReachabilityManager, AlamofireRecorder)] = []
        for index in 0..<30 {
            let manager = try await Sort.allCases[index % 2].make(in: network)
            let recorder = AlamofireRecorder()
            manager.startListening(onUpdatePerforming: recorder.record)
            listening.append((manager, recorder))
        }
        for (_, recorder) in listening { _ = try await recorder.statuses(atLeast: 1) }
        try await network.setConnected(false)
        for (_, recorder) in listening {
            #expect(try await recorder.statuses(atLeast: 2) == [Self.reachable, .notReachable])
        }
    }
}

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
