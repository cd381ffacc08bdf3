internal import CNetworkLab
import Glibc

/// The ground truth: an address is reachable when a UDP datagram comes back from it and a TCP connection is accepted.
package struct PacketOracle: Sendable {
    /// What one address answered.
    package struct Answer: Sendable, Equatable {
        package var datagram = false
        package var connection = false

        package var isReachable: Bool { datagram && connection }
    }

    private let namespace: LabNamespace

    package init(in namespace: LabNamespace) {
        self.namespace = namespace
    }

    /// Asks all addresses at once. Returns as soon as all have answered or failed; silence is waited for. Blocks.
    package func answers(of addresses: [String], silence: Duration = .milliseconds(300)) throws -> [String: Answer] {
        var probes = addresses.map { Probe(address: $0) }
        try namespace.perform {
            let deadline = Deadline(after: silence)
            for index in probes.indices {
                probes[index].begin()
            }
            while !deadline.hasPassed, probes.contains(where: \.isPending) {
                for index in probes.indices {
                    probes[index].sendAgain()
                }
                var events = probes.flatMap(\.events)
                _ = poll(&events, nfds_t(events.count), min(deadline.milliseconds, 100))
                for index in probes.indices {
                    probes[index].collect()
                }
            }
        }
        return Dictionary(probes.map { ($0.address, $0.answer) }) { first, _ in first }
    }

    /// The addresses that are reachable right now. An address that is expected to answer gets until the limit, one
    /// that is not gets the time of a silence; so neither ARP nor a late packet makes a wrong answer.
    package func reachable(
        of addresses: [String],
        expecting expected: Set<String>,
        within limit: Duration = .patience
    ) throws -> Set<String> {
        let deadline = Deadline(after: limit)
        while true {
            let answers = try answers(of: addresses)
            let reachable = Set(addresses.filter { answers[$0]?.isReachable == true })
            if reachable == expected.intersection(addresses) || deadline.hasPassed { return reachable }
            LabThread.pause(.milliseconds(20))
        }
    }
}
