import Dispatch
import Foundation
import KernelLab
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

@Suite struct FakeResolverTests {
    private typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    private let resolver = FakeResolver()
    private let answers = RecordingListener<Answer>()

    private func query(_ name: String) {
        resolver.resolve(name) { [answers] in answers.record($0) }
    }

    private func addresses(_ texts: String...) -> [NameLookup.Address] {
        texts.compactMap { WireAddress($0) }.map { NameLookup.Address($0) }
    }

    @Test func `the resolver returns the answer that was set`() {
        resolver.set("example.org", addresses: ["192.0.2.1", "2001:db8::1"])
        query("EXAMPLE.org.")
        query("elsewhere.example")
        resolver.fail("example.org")
        query("example.org")
        #expect(answers.waitForCount(3))
        #expect(
            answers.values == [
                .success(addresses("192.0.2.1", "2001:db8::1")), .failure(.noSuchName),
                .failure(.unavailable("Temporary failure in name resolution")),
            ]
        )
        #expect(resolver.questionCount(of: "example.org") == 2)
    }

    @Test func zones() {
        resolver.set("printer.example", addresses: ["fe80::1%2"])
        query("printer.example")
        #expect(answers.waitForCount(1))
        #expect((try? answers.values[0].get())?.first?.zone == 2)
    }

    @Test func `a held name is answered after its release`() {
        resolver.hold("example.org")
        query("example.org")
        #expect(resolver.waitingCount(of: "example.org") == 1)
        resolver.set("example.org", addresses: ["192.0.2.1"])
        resolver.release("example.org")
        #expect(answers.waitForCount(1))
        #expect(answers.values == [.success(addresses("192.0.2.1"))])
        #expect(resolver.waitingCount(of: "example.org") == 0)
    }

    @Test func `names of the hosts file and localhost are known locally`() {
        resolver.setHosts("nas", addresses: ["10.0.0.9"])
        #expect(resolver.localAddresses(of: "NAS") == addresses("10.0.0.9"))
        #expect(resolver.localAddresses(of: "app.localhost") == addresses("::1", "127.0.0.1"))
        resolver.setHosts("nas", addresses: [])
        #expect(resolver.localAddresses(of: "nas") == [])
    }

    @Test func `a change of the configuration is reported`() {
        let queue = DispatchQueue(label: "FakeResolverTests")
        let changes = RecordingListener<Void>()
        let watch = resolver.watchConfiguration(on: queue) { changes.record(()) }
        resolver.changeConfiguration()
        #expect(changes.waitForCount(1))
        watch?.cancel()
        resolver.changeConfiguration()
        queue.sync {}
        #expect(changes.count == 1)
    }
}

/// The system's name service in another namespace.
@Suite struct SystemResolverTests {
    @Test(.enabled(if: NamespaceSettings.isPermitted))
    func `files that a namespace gets later are noticed`() throws {
        let name = "resolver-\(getpid())"
        let directory = "/etc/netns/\(name)"
        let resolver = SystemResolver(namespace: NamespaceReference(path: "/run/netns/\(name)"))
        let received = RecordingListener<ResolverConfiguration?>()
        let watch = resolver.watchConfiguration(on: DispatchQueue(label: "SystemResolverTests")) {
            received.record(resolver.configuration)
        }
        #expect(mkdir(directory, 0o755) == 0)
        defer { rmdir(directory) }
        #expect(received.waitForCount(1))
        for server in ["192.0.2.53", "192.0.2.54"] {
            try "nameserver \(server)\n".write(toFile: "\(directory)/resolv.conf", atomically: false, encoding: .utf8)
            let start = ContinuousClock.now
            while received.last??.servers.map(\.description) != [server], ContinuousClock.now - start < .seconds(30) {
                usleep(1000)
            }
            #expect(received.last??.servers.map(\.description) == [server])
        }
        let before = received.count
        #expect(unlink("\(directory)/resolv.conf") == 0)
        #expect(received.waitForCount(before + 1))
        withExtendedLifetime(watch) {}
    }

    @Test func `a completion is called outside the namespace`() async throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let home = try NamespaceIdentity(path: "/proc/self/ns/net")
        let resolver = SystemResolver(namespace: NamespaceReference(path: namespace.path))
        let place = await withCheckedContinuation { told in
            resolver.resolve("localhost") { _ in told.resume(returning: NamespaceIdentity.current) }
        }
        #expect(place == home)
        #expect(try NamespaceIdentity(path: namespace.path) != home)
    }
}

@Suite("The hosts file")
struct HostsFileTests {
    private let file = HostsFile(
        text: """
            # 192.0.2.9 commented
            127.0.0.1\tlocalhost
            192.0.2.1  Router.example router   # the router
            2001:db8::1 router
            not-an-address broken
            192.0.2.2
            192.0.2.3 bücher.example
            192.0.2.4 xn--mnchen-3ya.example
            """
    )

    private func addresses(_ name: String) -> [String] {
        file.addresses(of: name).map(\.address.description)
    }

    @Test func `all addresses of a name are returned in the order of the file, without regard to case or a final dot`()
    {
        #expect(addresses("router") == ["192.0.2.1", "2001:db8::1"])
        #expect(addresses("ROUTER.EXAMPLE.") == ["192.0.2.1"])
        #expect(addresses("localhost") == ["127.0.0.1"])
    }

    @Test func `a name in another script equals its ASCII form`() {
        for name in ["bücher.example", "BÜCHER.Example", "xn--bcher-kva.example"] {
            #expect(addresses(name) == ["192.0.2.3"])
        }
        #expect(addresses("münchen.example") == ["192.0.2.4"])
        #expect(addresses("munchen.example") == [])
    }

    @Test func `comments, malformed lines and lines without names are ignored`() {
        #expect(addresses("commented") == [])
        #expect(addresses("broken") == [])
        #expect(addresses("the") == [])
        #expect(addresses("") == [])
    }

    @Test func `localhost is known without a file`() {
        let none = HostsFile(path: "/nonexistent")
        #expect(none.addresses(of: "LocalHost.").map(\.address.description) == ["127.0.0.1", "::1"])
        #expect(none.addresses(of: "db.localhost").map(\.address.description) == ["127.0.0.1", "::1"])
        #expect(none.addresses(of: "notlocalhost").isEmpty)
    }
}

/// The configuration of the name service.
@Suite struct ResolverConfigurationTests {
    private static func servers(_ resolv: String, _ order: String? = nil, _ upstream: String? = nil) -> [String]? {
        ResolverConfiguration(resolv: resolv, order: order, upstream: upstream)
            .servers(for: "a.example")?.map(\.description)
    }

    @Test func `at most three servers are used, in the order of the file`() {
        let two = "nameserver 192.0.2.1\n#nameserver 192.0.2.9\nnameserver\t2001:db8::1"
        #expect(Self.servers(two) == ["192.0.2.1", "2001:db8::1"])
        let many = (1...4).map { "nameserver 192.0.2.\($0)\n" }.joined()
        #expect(Self.servers(many)?.count == 3)
        #expect(Self.servers("nameserver fe80::1%eth0\nnameserver nonsense\nnameserver\n") == ["fe80::1%eth0"])
        #expect(Self.servers("") == [])
    }

    @Test func `the servers behind systemd-resolved are used`() {
        let upstream = "nameserver 192.0.2.1\n"
        #expect(Self.servers("nameserver 127.0.0.53", nil, upstream) == ["192.0.2.1"])
        #expect(Self.servers("nameserver 127.0.0.53") == ["127.0.0.53"])
        #expect(Self.servers("nameserver 9.9.9.9", "hosts: resolve dns", upstream) == ["192.0.2.1"])
        #expect(Self.servers("nameserver 9.9.9.9", "hosts: files dns", upstream) == ["9.9.9.9"])
    }

    @Test func `without DNS as a source there are no servers`() {
        #expect(Self.servers("nameserver 192.0.2.1", "hosts: files") == nil)
        #expect(Self.servers("nameserver 192.0.2.1", "passwd: dns\n") == ["192.0.2.1"])
        let order = "# hosts: files\n hosts:  files mdns4_minimal [NOTFOUND=return] dns # no more\n"
        let configuration = ResolverConfiguration(resolv: "nameserver 192.0.2.1", order: order, upstream: nil)
        #expect(configuration.sources == ["files", "mdns4_minimal", "dns"])
        #expect(configuration.servers(for: "printer.local") == [])
        #expect(configuration.servers(for: "db.corp.local")?.count == 1)
        #expect(configuration.servers(for: "a.example")?.count == 1)
        let split = ResolverConfiguration(resolv: "", order: "hosts: dns [!UNAVAIL = return] files", upstream: nil)
        #expect(split.sources == ["dns", "files"])
    }
}

/// A Boolean value that indicates whether names can be resolved, according to the configuration and the routes.
@Suite struct NameServerPathTests {
    /// A name service with a known configuration.
    private struct ConfiguredResolver: HostResolver {
        let servers: String
        let order: String

        var configuration: ResolverConfiguration? {
            ResolverConfiguration(resolv: servers, order: order, upstream: nil)
        }
        func localAddresses(of name: String) -> [NameLookup.Address] { [] }
        func resolve(
            _ name: String,
            _ completion: @escaping @Sendable (Result<[NameLookup.Address], NameLookup.Failure>) -> Void
        ) {}
        func watchConfiguration(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
            nil
        }
    }

    @Test(arguments: [
        ("nameserver 203.0.113.53", "hosts: files dns", true),
        ("nameserver 2001:db8::53\nnameserver 203.0.113.53", "", true),
        ("nameserver 2001:db8::53", "", false),
        ("", "", false),
        ("nameserver 203.0.113.53", "hosts: files", false),
    ])
    func `one reachable server is sufficient`(servers: String, order: String, isSupported: Bool) throws {
        let kernel = FakeKernel.connected()
        let environment = MonitorEnvironment(
            kernel: kernel,
            clock: kernel.clock,
            resolver: ConfiguredResolver(servers: servers, order: order)
        )
        let options = NetworkReachabilityOptions()
        let monitor = PathMonitor(environment: environment)
        let manager = NetworkReachabilityManager(try Target(options: options), monitor: monitor, options: options)
        #expect(manager.supportsDNS == isSupported)
        #expect(manager.reachabilityQueue === monitor.queue)
        #expect(!manager.path.isConstrained)
        kernel.setCarrier("eth0", false)
        #expect(!manager.supportsDNS)
    }
}

@Suite("The queries and answers of a name")
struct NameStateTests {
    private let one = [IPAddress("192.0.2.1")].compactMap(\.self)
    private let two = [IPAddress("192.0.2.2")].compactMap(\.self)
    private let outage = Result<[IPAddress], NameLookup.Failure>.failure(.unavailable("try again"))
    private let missing = Result<[IPAddress], NameLookup.Failure>.failure(.noSuchName)

    private func queried(
        _ state: inout NameState,
        _ reason: NameState.QueryReason = .age,
        at now: Duration = .zero
    ) throws -> UInt64 {
        let question = state.query(because: reason, at: now)
        return try #require(question)
    }

    @Test func `a name is pending until the first answer`() throws {
        var state = NameState()
        #expect(state.answer == .pending)
        let question = try queried(&state)
        #expect(state.query(because: .age, at: .zero) == nil)
        #expect(state.take(.success(one), of: question) == (true, false))
        #expect(state.answer == .addresses(one))
    }

    @Test func `local addresses are used until the name service answers`() throws {
        var state = NameState()
        state.setLocal([])
        #expect(state.answer == .pending)
        state.setLocal(one)
        #expect(state.answer == .addresses(one))
        let question = try queried(&state)
        _ = state.take(.success(two), of: question)
        #expect(state.answer == .addresses(two))
    }

    @Test func `an outage keeps known addresses, and a denial removes them`() throws {
        var state = NameState()
        var question = try queried(&state)
        #expect(state.take(outage, of: question) == (true, false))
        #expect(state.answer == .failed)
        question = try queried(&state)
        _ = state.take(.success(one), of: question)
        question = try queried(&state)
        #expect(state.take(outage, of: question) == (false, false))
        #expect(state.answer == .addresses(one))
        question = try queried(&state)
        #expect(state.take(missing, of: question) == (true, false))
        #expect(state.answer == .failed)
    }

    @Test func `a success without addresses is a failure`() throws {
        var state = NameState()
        let question = try queried(&state)
        _ = state.take(.success([]), of: question)
        #expect(state.answer == .failed)
    }

    @Test func `after a change a second query is sent, and the failure of the first is ignored`() throws {
        var state = NameState()
        let stuck = try queried(&state)
        let fresh = try queried(&state, .change, at: .seconds(1))
        #expect(state.take(.success(one), of: fresh) == (true, false))
        #expect(state.take(outage, of: stuck) == (false, false))
        #expect(state.answer == .addresses(one))
    }

    @Test func `the failure of a query that a later one replaced is ignored`() throws {
        var state = NameState()
        let stuck = try queried(&state)
        let fresh = try queried(&state, .change, at: .seconds(1))
        #expect(state.take(missing, of: stuck) == (false, false))
        #expect(state.answer == .pending)
        _ = state.take(.success(two), of: fresh)
        #expect(state.answer == .addresses(two))
    }

    @Test func `a change during the maximum number of queries causes a query afterwards`() throws {
        var state = NameState()
        let first = try queried(&state)
        let second = try queried(&state, .change)
        #expect(state.query(because: .change, at: .seconds(2)) == nil)
        #expect(state.take(.success(one), of: second) == (true, true))
        #expect(state.take(outage, of: first) == (false, false))
    }

    @Test func `the backoff doubles up to a minute and ends with success`() throws {
        var state = NameState()
        var waits: [Duration] = []
        for _ in 0..<9 {
            let question = try queried(&state)
            _ = state.take(outage, of: question)
            waits.append(state.delay(from: .zero, interval: .seconds(300)))
        }
        #expect(waits == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        let question = try queried(&state, at: .seconds(10))
        _ = state.take(.success(one), of: question)
        #expect(state.delay(from: .seconds(10), interval: .seconds(300)) == .seconds(300))
        #expect(state.delay(from: .seconds(400), interval: .seconds(300)) == .zero)
        #expect(state.delayAfterChange(from: .seconds(10)) == .seconds(1))
        #expect(state.delayAfterChange(from: .seconds(12)) == .zero)
    }
}
