import LinuxPrimitives
import Netlink
import Testing

@testable import NetworkReachability

@Suite("The vote on the network at large")
struct VoteTests {
    private func addresses(_ count: Int) -> [IPAddress] {
        (0..<count).map { IPAddress(WireAddress(ipv4: 0xc000_0200 + UInt32($0))) }
    }

    private func verdict(_ isSatisfied: Bool, interface: UInt32 = 2) -> Verdict {
        let way = Verdict.Way(link: interface, source: WireAddress(ipv4: 1), mtu: 1500, isLocal: false)
        return Verdict(
            destination: IPAddress(WireAddress(ipv4: 2)),
            outcome: isSatisfied ? .success(way) : .failure(Verdict.Obstacle(.noRoute))
        )
    }

    @Test("It asks only as many as could decide")
    func early() {
        var vote = Vote(addresses(8)[...], .majority)
        #expect(!vote.isDecided)
        #expect(vote.next.count == 5)
        vote.count([true, true, true, true, false].map { verdict($0) }[...])
        #expect(!vote.isDecided)
        #expect(vote.next.count == 1)
        vote.count([verdict(true)])
        #expect(vote.isDecided && vote.isWon)
    }

    @Test("Half is no majority")
    func half() {
        var vote = Vote(addresses(8)[...], .majority)
        vote.count(ArraySlice([true, true, true, true, false, false, false, false].map { verdict($0) }))
        #expect(vote.isDecided && !vote.isWon)
    }

    @Test("It ends when it cannot be won any more")
    func lost() {
        var vote = Vote(addresses(5)[...], .majority)
        vote.count([verdict(false), verdict(false)])
        #expect(!vote.isDecided)
        vote.count([verdict(false)])
        #expect(vote.isDecided && !vote.isWon)
    }

    @Test("Without candidates it is lost from the beginning")
    func empty() {
        #expect(Vote([], .majority).isDecided)
        #expect(!Vote([], .majority).isWon)
    }

    @Test("One of a host's addresses is enough, and all are asked about at once")
    func one() {
        var vote = Vote(addresses(3)[...], .one)
        #expect(vote.next.count == 3)
        vote.count([verdict(false), verdict(true), verdict(false)])
        #expect(vote.isDecided && vote.isWon)
        vote = Vote(addresses(1)[...], .one)
        vote.count([verdict(false)])
        #expect(vote.isDecided && !vote.isWon && vote.next.isEmpty)
    }

    @Test("The way is that of the interface most leave through")
    func mostCommon() {
        var vote = Vote(addresses(3)[...], .majority)
        vote.count([verdict(true, interface: 2), verdict(true, interface: 3), verdict(true, interface: 3)])
        #expect(vote.mostCommon == vote.verdicts[1])
    }

    @Test("Of the obstacles the one that explains most is told, the first of several")
    func worst() {
        let verdicts = zip(addresses(4), [.noRoute, .noCarrier, .noCarrier, .refused] as [Verdict.Cause]).map {
            Verdict(destination: $0, outcome: .failure(Verdict.Obstacle($1)))
        }
        var vote = Vote(addresses(5)[...], .one)
        #expect(vote.worst == nil)
        vote.count([verdict(true)])
        #expect(vote.worst == nil)
        vote.count(verdicts[...])
        #expect(vote.worst == verdicts[1])
    }

    @Test("It holds as long as the first of its verdicts")
    func lifetime() {
        var vote = Vote(addresses(3)[...], .majority)
        #expect(vote.lifetime == nil)
        var short = verdict(true)
        short.lifetime = .seconds(3)
        var long = verdict(true)
        long.lifetime = .seconds(5)
        vote.count([verdict(true), long, short])
        #expect(vote.lifetime == .seconds(3))
    }
}
