import Dispatch
import KernelLab
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite struct FakeKernelFaultTests {
    private let kernel = FakeKernel()
    private let heard = RecordingListener<EventBurst>()
    private let queue = DispatchQueue(label: "FakeKernelFaultTests")

    init() {
        kernel.addLink("eth0")
    }

    @Test func netlinkDenied() throws {
        kernel.denyNetlink(.notPermitted)
        #expect(throws: NetlinkError("open a netlink socket", .notPermitted)) { try kernel.connect() }
        kernel.denyNetlink(nil)
        let connection = try kernel.connect()
        #expect(kernel.connectionCount == 1)
        withExtendedLifetime(connection) {}
    }

    @Test func questionsFail() throws {
        let connection = try kernel.connect()
        kernel.failQuestions(.timedOut)
        #expect(throws: NetlinkError.self) { try connection.answer(to: .links).links }
        kernel.failQuestions(nil)
        #expect(try connection.answer(to: .links).links.map(\.name) == ["lo", "eth0"])
    }

    @Test func anOverrunTellsOfNothingElse() throws {
        let connection = try kernel.connect()
        _ = try connection.listen(on: queue) { [heard] in heard.record($0) }
        kernel.overrun { kernel.setUp("eth0", false) }
        kernel.sendForeignMessage()
        queue.sync {}
        let now = kernel.clock.monotonic
        #expect(heard.values == [EventBurst(overruns: 1, noticed: now), EventBurst(foreign: 1, noticed: now)])
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.isUp == false)
    }

    @Test func connectionsAndQuestionsAreCounted() throws {
        var connection: (any KernelConnection)? = try kernel.connect()
        _ = try connection?.answer(to: .link(1)).link
        let query = RouteQuery(destination: .ipv6Loopback)
        _ = try connection?.ask([.route(query), .route(query)])
        #expect(kernel.questionCount == 3)
        #expect(kernel.lookupCount == 2)
        #expect(kernel.connectionCount == 1)
        connection = nil
        #expect(kernel.connectionCount == 0)
    }

    @Test func aReplacedNamespaceLeavesConnectionsBehind() throws {
        let old = try kernel.connect()
        _ = try old.listen(on: queue) { [heard] in heard.record($0) }
        let changes = RecordingListener<Void>()
        let watch = kernel.watchNamespace(on: queue) { changes.record(()) }
        kernel.replaceNamespace()
        kernel.addLink("eth1")
        queue.sync {}
        #expect(changes.count == 1)
        #expect(heard.values == [])
        #expect(!old.isCurrent)
        #expect(try old.answer(to: .links).links.map(\.name) == ["lo", "eth0"])
        let new = try kernel.connect()
        #expect(new.isCurrent)
        #expect(try new.answer(to: .links).links.map(\.name) == ["lo", "eth1"])
        watch?.cancel()
    }
}
