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
