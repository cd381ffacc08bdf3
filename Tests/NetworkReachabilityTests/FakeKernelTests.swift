import Dispatch
import KernelLab
import LinuxSupport
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// The timing and form of the fake kernel's events. Their content is compared with the real kernel in another suite.
@Suite struct FakeKernelHintTests {
    private let kernel = FakeKernel()
    private let received = RecordingListener<EventBurst>()
    private let queue = DispatchQueue(label: "FakeKernelHintTests")

    init() {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
    }

    private func listen() throws -> any KernelConnection {
        let connection = try kernel.connect()
        _ = try connection.listen(on: queue) { [received] in received.record($0) }
        return connection
    }

    private func canReach(_ connection: any KernelConnection, _ address: String = "1.1.1.1") throws -> Bool {
        let query = RouteQuery(destination: try #require(WireAddress(address)))
        return if case .success = try connection.answer(to: .route(query)).route { true } else { false }
    }

    @Test func `a command that changes nothing sends no event`() throws {
        let connection = try listen()
        kernel.setCarrier("eth0", true)
        kernel.setUp("eth0")
        queue.sync {}
        #expect(received.values == [])
        withExtendedLifetime(connection) {}
    }

    @Test func `a stopped connection receives no events`() throws {
        let connection = try listen()
        connection.stopListening()
        kernel.removeRoute("default")
        queue.sync {}
        #expect(received.values == [])
        #expect(kernel.listenerCount == 0)
        _ = try connection.listen(on: queue) { [received] in received.record($0) }
        kernel.addRoute("default", via: "10.0.0.1")
        queue.sync {}
        #expect(received.count == 1)
    }

    @Test func `a batch is visible step by step`() throws {
        let connection = try kernel.connect()
        let seen = RecordingListener<(EventBurst.Subjects, Bool)>()
        _ = try connection.listen(on: queue) { [connection] burst in
            let query = RouteQuery(destination: WireAddress(ipv4: 0x0101_0101))
            let canReach = try? connection.answer(to: .route(query)).route.get()
            seen.record((burst.subjects, canReach != nil))
        }
        kernel.batch {
            kernel.removeRoute("default")
            kernel.addRoute("default", via: "10.0.0.9")
        }
        queue.sync {}
        #expect(seen.values.map(\.1) == [false, true])
        #expect(seen.values.map(\.0.isEmpty) == [false, false])
        #expect(try canReach(connection))
        connection.stopListening()
    }

    @Test func `a notification can arrive before its state`() throws {
        let connection = try listen()
        kernel.delayState()
        kernel.removeRoute("default")
        queue.sync {}
        #expect(try canReach(connection), "the first lookup returns the old state")
        #expect(try !canReach(connection), "the next lookup returns the new state")
        kernel.addRoute("default", via: "10.0.0.1")
        queue.sync {}
        _ = try connection.answer(to: .link(1)).link
        #expect(try canReach(connection), "a lookup after a barrier returns the new state")
    }

    @Test func `a link event can be delayed after the carrier loss`() throws {
        let connection = try listen()
        kernel.setCarrier("eth0", false, notifiedAfter: .milliseconds(950))
        queue.sync {}
        #expect(received.values == [])
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.hasCarrier == false)
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.operationalState == .up)
        kernel.clock.advance(by: .milliseconds(950))
        queue.sync {}
        #expect(received.values.map(\.subjects) == [.link])
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.operationalState == .down)
    }

    @Test func `an IPv6 route expires without an event`() throws {
        kernel.addAddress("fd00::2/64", to: "eth0")
        kernel.addRoute("default", via: "fd00::1", expiresAfter: .seconds(10))
        let connection = try listen()
        let entry = RouteQuery(destination: try #require(WireAddress("2001:db8::1")), wantsEntry: true)
        #expect(try connection.answer(to: .route(entry)).route.get().lifetime == .seconds(10))
        kernel.clock.advance(by: .seconds(9))
        #expect(try canReach(connection, "2001:db8::1"))
        kernel.clock.advance(by: .seconds(1))
        queue.sync {}
        #expect(try !canReach(connection, "2001:db8::1"))
        #expect(received.values == [])
        kernel.clock.advance(by: .seconds(30))
        queue.sync {}
        #expect(received.values.map(\.subjects) == [[.route, .defaultRoute, .removal]])
    }
}

@Suite struct FakeKernelFaultTests {
    private let kernel = FakeKernel()
    private let received = RecordingListener<EventBurst>()
    private let queue = DispatchQueue(label: "FakeKernelFaultTests")

    init() {
        kernel.addLink("eth0")
    }

    @Test func `a denied kernel refuses connections`() throws {
        kernel.denyNetlink(.notPermitted)
        #expect(throws: NetlinkError("open a netlink socket", .notPermitted)) { try kernel.connect() }
        kernel.denyNetlink(nil)
        let connection = try kernel.connect()
        #expect(kernel.connectionCount == 1)
        withExtendedLifetime(connection) {}
    }

    @Test func `queries can be made to fail`() throws {
        let connection = try kernel.connect()
        kernel.failQuestions(.timedOut)
        #expect(throws: NetlinkError.self) { try connection.answer(to: .links).links }
        kernel.failQuestions(nil)
        #expect(try connection.answer(to: .links).links.map(\.name) == ["lo", "eth0"])
    }

    @Test func `an overrun is reported without the lost events`() throws {
        let connection = try kernel.connect()
        _ = try connection.listen(on: queue) { [received] in received.record($0) }
        kernel.overrun { kernel.setUp("eth0", false) }
        kernel.sendForeignMessage()
        queue.sync {}
        let now = kernel.clock.monotonic
        #expect(received.values == [EventBurst(overruns: 1, noticed: now), EventBurst(foreign: 1, noticed: now)])
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.isUp == false)
    }

    @Test func `connections and queries are counted`() throws {
        var connection: (any KernelConnection)? = try kernel.connect()
        _ = try connection?.answer(to: .link(1)).link
        let query = RouteQuery(destination: .ipv6Loopback)
        _ = try connection?.query([.route(query), .route(query)])
        #expect(kernel.questionCount == 3)
        #expect(kernel.lookupCount == 2)
        #expect(kernel.connectionCount == 1)
        connection = nil
        #expect(kernel.connectionCount == 0)
    }

    @Test func `a replaced namespace invalidates existing connections`() throws {
        let old = try kernel.connect()
        _ = try old.listen(on: queue) { [received] in received.record($0) }
        let changes = RecordingListener<Void>()
        let watch = kernel.watchNamespace(on: queue) { changes.record(()) }
        kernel.replaceNamespace()
        kernel.addLink("eth1")
        queue.sync {}
        #expect(changes.count == 1)
        #expect(received.values == [])
        #expect(!old.isCurrent)
        #expect(try old.answer(to: .links).links.map(\.name) == ["lo", "eth0"])
        let new = try kernel.connect()
        #expect(new.isCurrent)
        #expect(try new.answer(to: .links).links.map(\.name) == ["lo", "eth1"])
        watch?.cancel()
    }
}
