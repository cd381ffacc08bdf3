import LinuxPrimitives
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
        try namespace.perform { () throws in
            let sockets = try RouteSockets()
            let v0 = try #require(try sockets.answer(to: .linkNamed("v0")).link)
            let route = RouteQuery(destination: try #require(WireAddress("192.0.2.9")))
            let answers = try sockets.ask([.link(1), .link(v0.index), .route(route), .linkNamed("v1")])
            #expect(answers.count == 4)
            guard case .link(let lo?) = answers[0], case .link(let long?) = answers[1],
                case .route(.success(let found)) = answers[2], case .link(let peer?) = answers[3]
            else {
                Issue.record("answers are missing: \(answers)")
                return
            }
            #expect([lo.name, long.name, peer.name] == ["lo", "v0", "v1"])
            #expect(found.nextHop?.interface == v0.index)
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
