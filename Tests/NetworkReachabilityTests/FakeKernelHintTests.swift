import Dispatch
import KernelLab
import LinuxSupport
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import Testing

/// When and how the fake kernel tells of changes. What it tells of each is compared with the real one elsewhere.
@Suite struct FakeKernelHintTests {
    private let kernel = FakeKernel()
    private let heard = RecordingListener<EventBurst>()
    private let queue = DispatchQueue(label: "FakeKernelHintTests")

    init() {
        kernel.addLink("eth0")
        kernel.addAddress("10.0.0.2/24", to: "eth0")
        kernel.addRoute("default", via: "10.0.0.1")
    }

    private func listen() throws -> any KernelConnection {
        let connection = try kernel.connect()
        _ = try connection.listen(on: queue) { [heard] in heard.record($0) }
        return connection
    }

    private func canReach(_ connection: any KernelConnection, _ address: String = "1.1.1.1") throws -> Bool {
        let query = RouteQuery(destination: try #require(WireAddress(address)))
        return if case .success = try connection.answer(to: .route(query)).route { true } else { false }
    }

    @Test func carrierLossTellsOfTheLinkAlone() throws {
        let connection = try listen()
        kernel.setCarrier("eth0", false)
        queue.sync {}
        #expect(heard.values == [EventBurst(messages: 1, subjects: .link, noticed: kernel.clock.monotonic)])
        #expect(try canReach(connection))
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.hasCarrier == false)
    }

    @Test func aRemovedRouteIsTold() throws {
        let connection = try listen()
        kernel.removeRoute("default")
        queue.sync {}
        let subjects: EventBurst.Subjects = [.route, .defaultRoute, .removal]
        #expect(heard.values == [EventBurst(messages: 1, subjects: subjects, noticed: kernel.clock.monotonic)])
        #expect(try !canReach(connection))
    }

    @Test func whatChangesNothingIsNotTold() throws {
        let connection = try listen()
        kernel.setCarrier("eth0", true)
        kernel.setUp("eth0")
        queue.sync {}
        #expect(heard.values == [])
        withExtendedLifetime(connection) {}
    }

    @Test func whoStopsListeningHearsNothing() throws {
        let connection = try listen()
        connection.stopListening()
        kernel.removeRoute("default")
        queue.sync {}
        #expect(heard.values == [])
        #expect(kernel.listenerCount == 0)
        _ = try connection.listen(on: queue) { [heard] in heard.record($0) }
        kernel.addRoute("default", via: "10.0.0.1")
        queue.sync {}
        #expect(heard.count == 1)
    }

    @Test func aBatchIsSeenStepByStep() throws {
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

    @Test func aNotificationOvertakesItsState() throws {
        let connection = try listen()
        kernel.delayState()
        kernel.removeRoute("default")
        queue.sync {}
        #expect(try canReach(connection), "the first lookup still sees what was")
        #expect(try !canReach(connection), "the next does not")
        kernel.addRoute("default", via: "10.0.0.1")
        queue.sync {}
        _ = try connection.answer(to: .link(1)).link
        #expect(try canReach(connection), "nor does one after a barrier")
    }

    @Test func lateNewsOfTheCarrier() throws {
        let connection = try listen()
        kernel.setCarrier("eth0", false, notifiedAfter: .milliseconds(950))
        queue.sync {}
        #expect(heard.values == [])
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.hasCarrier == false)
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.operationalState == .up)
        kernel.clock.advance(by: .milliseconds(950))
        queue.sync {}
        #expect(heard.values.map(\.subjects) == [.link])
        #expect(try connection.answer(to: .linkNamed("eth0")).link?.operationalState == .down)
    }

    @Test func anIPv6RouteExpiresSilently() throws {
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
        #expect(heard.values == [])
        kernel.clock.advance(by: .seconds(30))
        queue.sync {}
        #expect(heard.values.map(\.subjects) == [[.route, .defaultRoute, .removal]])
    }
}
