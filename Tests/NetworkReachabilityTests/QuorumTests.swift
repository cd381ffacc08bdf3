import LinuxSupport
import Netlink
import Testing

@testable import NetworkReachability

@Suite("The quorum for the network at large")
struct QuorumTests {
    private func addresses(_ count: Int) -> [IPAddress] {
        (0..<count).map { IPAddress(WireAddress(ipv4: 0xc000_0200 + UInt32($0))) }
    }

    private func verdict(_ isSatisfied: Bool, interface: UInt32 = 2) -> Verdict {
        let way = Verdict.Egress(link: interface, source: WireAddress(ipv4: 1), mtu: 1500, isLocal: false)
        return Verdict(
            destination: IPAddress(WireAddress(ipv4: 2)),
            outcome: isSatisfied ? .success(way) : .failure(Verdict.Obstacle(.noRoute))
        )
    }

    @Test("It asks only as many as could decide")
    func early() {
        var quorum = Quorum(addresses(8), .majority)
        #expect(!quorum.isDecided)
        #expect(quorum.next.count == 5)
        quorum.count([true, true, true, true, false].map { verdict($0) })
        #expect(!quorum.isDecided)
        #expect(quorum.next.count == 1)
        quorum.count([verdict(true)])
        #expect(quorum.isDecided && quorum.isReached)
    }

    @Test("Half is no majority")
    func half() {
        var quorum = Quorum(addresses(8), .majority)
        quorum.count([true, true, true, true, false, false, false, false].map { verdict($0) })
        #expect(quorum.isDecided && !quorum.isReached)
    }

    @Test("It ends when it cannot be won any more")
    func lost() {
        var quorum = Quorum(addresses(5), .majority)
        quorum.count([verdict(false), verdict(false)])
        #expect(!quorum.isDecided)
        quorum.count([verdict(false)])
        #expect(quorum.isDecided && !quorum.isReached)
    }

    @Test("Without candidates it is lost from the beginning")
    func empty() {
        #expect(Quorum([], .majority).isDecided)
        #expect(!Quorum([], .majority).isReached)
    }

    @Test("One of a host's addresses is enough, and all are asked about at once")
    func one() {
        var quorum = Quorum(addresses(3), .one)
        #expect(quorum.next.count == 3)
        quorum.count([verdict(false), verdict(true), verdict(false)])
        #expect(quorum.isDecided && quorum.isReached)
        quorum = Quorum(addresses(1), .one)
        quorum.count([verdict(false)])
        #expect(quorum.isDecided && !quorum.isReached && quorum.next.isEmpty)
    }

    @Test("The way is that of the interface most leave through")
    func mostCommon() {
        var quorum = Quorum(addresses(3), .majority)
        quorum.count([verdict(true, interface: 2), verdict(true, interface: 3), verdict(true, interface: 3)])
        #expect(quorum.mostCommon == quorum.verdicts[1])
    }

    @Test("Of the obstacles the one that explains most is told, the first of several")
    func worst() {
        let verdicts = zip(addresses(4), [.noRoute, .noCarrier, .noCarrier, .refused] as [Verdict.Cause]).map {
            Verdict(destination: $0, outcome: .failure(Verdict.Obstacle($1)))
        }
        var quorum = Quorum(addresses(5), .one)
        #expect(quorum.worst == nil)
        quorum.count([verdict(true)])
        #expect(quorum.worst == nil)
        quorum.count(verdicts)
        #expect(quorum.worst == verdicts[1])
    }

    @Test("It holds as long as the first of its verdicts")
    func lifetime() {
        var quorum = Quorum(addresses(3), .majority)
        #expect(quorum.lifetime == nil)
        var short = verdict(true)
        short.lifetime = .seconds(3)
        var long = verdict(true)
        long.lifetime = .seconds(5)
        quorum.count([verdict(true), long, short])
        #expect(quorum.lifetime == .seconds(3))
    }
}
