import CLinux
import Foundation
import NetworkLab
import Testing

@testable import LinuxSupport
@testable import Netlink

/// Long answers of the kernel, and old events.
@Suite struct LongAnswerTests {
    @Test func `a link with very many names does not affect the other answers`() throws {
        let namespace = try LabNamespace()
        try namespace.ip(["link add v0 type veth peer name v1", "link set v0 up", "addr add 192.0.2.1/24 dev v0"])
        let names = (100..<200).map { "altname \(String(repeating: "x", count: 120))\($0)" }
        for name in names { try namespace.ip("link property add dev v0 \(name)") }
        try Self.expectOthersAreAnswered(otherThan: "v0", in: namespace)
    }

    @Test func `a link is found by its alternative names, short or long`() throws {
        let namespace = try LabNamespace()
        let names = [
            "v0", "enp6s0", "enxa85e45b5ed44", String(repeating: "x", count: 16), String(repeating: "y", count: 127),
        ]
        try namespace.ip(
            ["link add v0 type veth peer name v1"] + names.dropFirst().map { "link property add dev v0 altname \($0)" }
        )
        try namespace.perform { () throws in
            let sockets = try RouteSockets()
            for name in names {
                #expect(InterfaceName.isValid(name))
                #expect(try sockets.answer(to: .linkNamed(name)).link?.name == "v0", "\(name)")
            }
            #expect(try sockets.answer(to: .linkNamed(String(repeating: "z", count: 127))).link == nil)
            #expect(!InterfaceName.isValid(String(repeating: "x", count: 128)))
        }
    }

    @Test func `a macvlan with very many sources does not affect the other answers`() throws {
        let namespace = try LabNamespace()
        try namespace.ip(["link add v0 type veth peer name v1", "link add m0 link v0 type macvlan mode source"])
        try namespace.ip(["link set v0 up", "link set m0 up", "addr add 192.0.2.1/24 dev m0"])
        try namespace.ip(
            (0..<1500).map { number in
                let (high, low) = (String(number / 100 + 10), String(number % 100))
                return "link set m0 type macvlan macaddr add 02:00:00:00:\(high):\(low)"
            }
        )
        let length = try namespace.perform { () throws in
            let socket = try NetlinkSocket(family: NETLINK_ROUTE)
            return try socket.collected { socket in
                var request = RequestBuilder()
                request.begin(.getLink, sequence: 1)
                request.append(ifinfomsg())
                request.append(attribute: IFLA_IFNAME, text: "m0")
                try socket.send(request.bytes)
            }.map(\.count).max()
        }
        #expect((length ?? 0) > 8 << 10)
        try Self.expectOthersAreAnswered(otherThan: "m0", in: namespace)
    }

    /// Queries a link with a long answer in one round with other links.
    private static func expectOthersAreAnswered(otherThan name: String, in namespace: LabNamespace) throws {
        try namespace.perform { () throws in
            let sockets = try RouteSockets()
            let asked = try #require(try sockets.answer(to: .linkNamed(name)).link)
            let route = RouteQuery(destination: try #require(WireAddress("192.0.2.9")))
            let answers = try sockets.query([.link(1), .link(asked.index), .route(route), .linkNamed("v1")])
            #expect(answers.count == 4)
            guard case .link(let lo?) = answers[0], case .link(let long?) = answers[1],
                case .route(.success(let found)) = answers[2], case .link(let peer?) = answers[3]
            else {
                Issue.record("answers are missing: \(answers)")
                return
            }
            #expect([lo.name, long.name, peer.name] == ["lo", name, "v1"])
            #expect(found.nextHop?.interface == asked.index)
        }
    }

    @Test func `queries with long answers are sent in smaller rounds`() throws {
        let namespace = try LabNamespace()
        try namespace.ip(["link add v0 type veth peer name v1", "link set v0 up"])
        let names = (100..<200).map { "altname \(String(repeating: "x", count: 120))\($0)" }
        for name in names { try namespace.ip("link property add dev v0 \(name)") }
        try namespace.perform { () throws in
            let sockets = try RouteSockets()
            let v0 = try #require(try sockets.answer(to: .linkNamed("v0")).link)
            // About 13 KiB each, more than any receive buffer of an unprivileged process.
            let answers = try sockets.query([KernelQuery](repeating: .link(v0.index), count: 200) + [.link(1)])
            let found = answers.map { if case .link(let link?) = $0 { link.name } else { "-" } }
            #expect(found == [String](repeating: "v0", count: 200) + ["lo"])
        }
    }

    @Test func `old events are discarded when listening starts again`() throws {
        let namespace = try LabNamespace()
        try namespace.ip("link set lo up")
        let events = try namespace.perform { try EventSocket() }
        _ = try events.join()
        try namespace.ip("route add 198.51.100.0/24 dev lo")
        events.leave()
        #expect(events.wait(atMost: .zero), "nothing was received at all")
        _ = try events.join()
        #expect(!events.wait(atMost: .zero))
        try namespace.ip("route add 203.0.113.0/24 dev lo")
        #expect(events.drain().messages == 1)
    }
}

/// Rules, neighbours and entries of the real kernel.
@Suite(.enabled(if: TestNamespace.isPermitted)) struct EvidenceKernelTests {
    private static func query<Value: Sendable>(
        _ commands: [String],
        _ body: @escaping @Sendable (RouteSockets, UInt32) throws -> Value
    ) async throws -> Value {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            defer { namespace.close() }
            try namespace.ip(
                [
                    "link set lo up", "link add u0 type veth peer name far", "link set far up", "link set u0 up",
                    "addr add 192.0.2.2/24 dev u0", "addr add 2001:db8::2/64 dev u0 nodad",
                ] + commands
            )
            let sockets = try namespace.perform { try RouteSockets() }
            return try body(sockets, try #require(try sockets.answer(to: .linkNamed("u0")).link).index)
        }
    }

    @Test func `every namespace has the default rules`() async throws {
        let (ipv4, ipv6) = try await Self.query([]) { sockets, _ in
            (try sockets.answer(to: .rules(.ipv4)).rules, try sockets.answer(to: .rules(.ipv6)).rules)
        }
        #expect(ipv4.map(\.priority) == [0, 32766, 32767])
        #expect(ipv4.map(\.table) == [255, 254, 253])
        #expect(ipv6 == [RoutingRule(priority: 0, table: 255), RoutingRule(priority: 32766, table: 254)])
    }

    @Test func `a rule with every selector is decoded`() async throws {
        let rules = try await Self.query([
            "rule add pref 10 not from 192.0.2.0/24 to 198.51.100.0/24 fwmark 0x10/0xf0 iif lo oif u0 uidrange 5-9 prohibit",
            "rule add pref 11 goto 32766", "rule add pref 12 table 300 suppress_prefixlength 0",
            "rule add pref 13 ipproto tcp dport 80 lookup 77", "rule add pref 14 unreachable",
            "rule add pref 15 blackhole",
        ]) { sockets, _ in try sockets.answer(to: .rules(.ipv4)).rules }
        let source = AddressPrefix(try #require(WireAddress("192.0.2.0")), length: 24)
        let destination = AddressPrefix(try #require(WireAddress("198.51.100.0")), length: 24)
        #expect(
            rules.dropFirst().prefix(6) == [
                RoutingRule(
                    priority: 10,
                    action: .prohibit,
                    source: source,
                    destination: destination,
                    mark: 0x10,
                    markMask: 0xf0,
                    inputInterface: "lo",
                    outputInterface: "u0",
                    users: 5...9,
                    isInverted: true
                ),
                RoutingRule(priority: 11, action: .goto, target: 32766),
                RoutingRule(priority: 12, table: 300, suppressedLength: 0),
                RoutingRule(priority: 13, table: 77, hasOtherSelectors: true),
                RoutingRule(priority: 14, action: .unreachable), RoutingRule(priority: 15, action: .blackhole),
            ]
        )
    }

    @Test(arguments: ["192.0.2.1", "2001:db8::1"])
    func `a neighbour is decoded in every state`(text: String) async throws {
        let address = try #require(WireAddress(text))
        let states: [(String, NeighbourState)] = [
            ("permanent", .permanent), ("noarp", .noARP), ("stale", .stale), ("reachable", .reachable),
        ]
        for (word, state) in states {
            let (found, other, elsewhere) = try await Self.query([
                "neigh add \(text) lladdr 02:00:00:00:00:99 dev u0 nud \(word)"
            ]) { sockets, link in
                (
                    try sockets.answer(to: .neighbour(address, link: link)).neighbour,
                    try sockets.answer(
                        to: .neighbour(WireAddress(family: address.family, bits: address.bits + 9), link: link)
                    ).neighbour,
                    try sockets.answer(to: .neighbour(address, link: 1)).neighbour
                )
            }
            #expect(found?.state == state && found?.hardwareAddress == [2, 0, 0, 0, 0, 0x99])
            #expect(other == nil)
            #expect(elsewhere == nil)
        }
    }

    @Test func `a neighbour that does not answer has failed`() async throws {
        let address = try #require(WireAddress("192.0.2.1"))
        let found = try await Self.query(["neigh add 192.0.2.1 dev u0 nud failed"]) { sockets, link in
            try sockets.answer(to: .neighbour(address, link: link)).neighbour
        }
        #expect(found?.state == .failed && found?.hardwareAddress == [])
    }

    @Test func `an entry contains its metric`() async throws {
        let metrics = try await Self.query([
            "route add default via 192.0.2.1 metric 77", "route add default via 2001:db8::1 metric 88",
        ]) { sockets, _ in
            let queries = ["203.0.113.7", "2001:db8:9::7"].compactMap { WireAddress($0) }
                .map { RouteQuery(destination: $0, wantsEntry: true) }
            return try sockets.query(queries.map { .route($0) }).map(\.route).map { try $0.get().metric }
        }
        #expect(metrics == [77, 88])
    }
}

/// The behaviour of a real kernel towards a slow reader.
@Suite(.enabled(if: TestNamespace.isPermitted)) struct OverrunKernelTests {
    /// More messages than the buffer of a socket holds.
    private static let storm = ["add", "del"].flatMap { verb in
        (0..<5000).map { "route \(verb) 198.18.\($0 / 256).\($0 % 256)/32 dev lo" }
    }

    @Test func `a loss is reported before and after the queued messages`() async throws {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            let events = try namespace.perform { try EventSocket() }
            #expect(try events.join().isEmpty)
            _ = events.drain()
            try namespace.ip(Self.storm)

            let first = events.drain()
            #expect(first.overruns == 1 && first.messages == 0)
            #expect(first.isIncomplete && first.prefixes.isEverything)

            // The kernel drops this message without a further report.
            try namespace.ip("link add name d0 type veth peer name d1")
            var kept = EventBurst()
            while events.wait(atMost: .zero) {
                let burst = events.drain()
                if !events.wait(atMost: .zero) { #expect(burst.isIncomplete) }
                kept.add(burst)
            }
            #expect(kept.overruns == 0)
            #expect(kept.messages > 0 && kept.messages < Self.storm.count)
            #expect(
                !kept.subjects.contains(.link),
                "the kernel reports the loss: the second evaluation is no longer necessary"
            )
            #expect(kept.mayChangeInterfaces && !kept.isOnlyRoutes)

            try namespace.ip("route add 203.0.113.0/24 dev lo")
            let later = events.drain()
            #expect(later.messages == 1 && !later.isIncomplete)
        }
    }
}

/// A network namespace with a mount namespace. It exists as long as an otherwise idle child process.
final class TestNamespace {
    struct Failure: Error {
        let script: String
    }

    static let isPermitted = getuid() == 0

    private let process = Process()
    private let input = Pipe()

    /// Runs `script` in a new namespace. The namespace is complete when this function returns.
    init(_ script: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["unshare", "--net", "--mount", "sh", "-c", "set -e; \(script); echo ready; read -r end"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard output.fileHandleForReading.availableData.starts(with: Data("ready".utf8)) else {
            throw Failure(script: script)
        }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        // A child process that was started meanwhile may hold the other end of this input open, and vice versa.
        process.terminate()
        process.waitUntilExit()
    }

    var path: String { "/proc/\(process.processIdentifier)/ns/net" }

    /// The network devices in /sys as the child process sees it.
    var sysfs: String { "/proc/\(process.processIdentifier)/root/sys/class/net" }

    /// Runs `script` in the namespace and waits for its end.
    func run(_ script: String) throws {
        let child = try Process.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            arguments: ["nsenter", "--net=\(path)", "sh", "-c", script]
        )
        child.waitUntilExit()
        guard child.terminationStatus == 0 else { throw Failure(script: script) }
    }

    /// The netlink sockets of the namespace.
    func sockets() throws -> [ListedSocket] {
        try NamespaceEntry.run(inside: NamespaceReference(path: path)) { _ in Result { try ListedSocket.all() } }.get()
    }

    /// Sockets that were opened in the namespace.
    func routeSockets() throws -> RouteSockets {
        try NamespaceEntry.query(inside: NamespaceReference(path: path)) { _ throws(NetlinkError) in try RouteSockets()
        }
    }
}
