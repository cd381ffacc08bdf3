import CLinux
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// What the kernel says may be long, and what it said before may be stale.
@Suite struct LongAnswerTests {
    @Test func `a link with very many names leaves the other answers alone`() throws {
        let namespace = try LabNamespace()
        try namespace.ip(["link add v0 type veth peer name v1", "link set v0 up", "addr add 192.0.2.1/24 dev v0"])
        let names = (100..<200).map { "altname \(String(repeating: "x", count: 120))\($0)" }
        for name in names { try namespace.ip("link property add dev v0 \(name)") }
        try Self.expectOthersAreAnswered(besides: "v0", in: namespace)
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

    @Test func `a macvlan with very many sources leaves the other answers alone`() throws {
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
        try Self.expectOthersAreAnswered(besides: "m0", in: namespace)
    }

    /// Asks for a link whose answer is long, in one round with others.
    private static func expectOthersAreAnswered(besides name: String, in namespace: LabNamespace) throws {
        try namespace.perform { () throws in
            let sockets = try RouteSockets()
            let asked = try #require(try sockets.answer(to: .linkNamed(name)).link)
            let route = RouteQuery(destination: try #require(WireAddress("192.0.2.9")))
            let answers = try sockets.ask([.link(1), .link(asked.index), .route(route), .linkNamed("v1")])
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

    @Test func `answers that are too long together are asked for in smaller rounds`() throws {
        let namespace = try LabNamespace()
        try namespace.ip(["link add v0 type veth peer name v1", "link set v0 up"])
        let names = (100..<200).map { "altname \(String(repeating: "x", count: 120))\($0)" }
        for name in names { try namespace.ip("link property add dev v0 \(name)") }
        try namespace.perform { () throws in
            let sockets = try RouteSockets()
            let v0 = try #require(try sockets.answer(to: .linkNamed("v0")).link)
            // Some 13 KiB each: more than any receive buffer that a user may have.
            let answers = try sockets.ask([KernelQuestion](repeating: .link(v0.index), count: 200) + [.link(1)])
            let found = answers.map { if case .link(let link?) = $0 { link.name } else { "-" } }
            #expect(found == [String](repeating: "v0", count: 200) + ["lo"])
        }
    }

    @Test func `what was heard before listening ended is not heard when it begins again`() throws {
        let namespace = try LabNamespace()
        try namespace.ip("link set lo up")
        let events = try namespace.perform { try EventSocket() }
        _ = try events.join()
        try namespace.ip("route add 198.51.100.0/24 dev lo")
        events.leave()
        #expect(events.wait(atMost: .zero), "nothing was heard at all")
        _ = try events.join()
        #expect(!events.wait(atMost: .zero))
        try namespace.ip("route add 203.0.113.0/24 dev lo")
        #expect(events.drain().messages == 1)
    }
}
