import LinuxPrimitives
package import NetworkReachability

/// One round that contacts nobody but the gateway and the DNS servers that are configured: what else it sends dies at the second router,
/// or goes to an address that nobody has.
package struct PrivateRound: Sendable {
    /// The DNS servers of this machine.
    package var servers: [IPAddress]
    /// Where packets that die on the way are addressed to; they never get there.
    package var direction: IPAddress
    /// Makes numbers for questions, and names that nobody has.
    package var chance: @Sendable () -> UInt64

    package init(
        servers: [IPAddress],
        direction: IPAddress,
        chance: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }
    ) {
        (self.servers, self.direction, self.chance) = (servers, direction, chance)
    }

    /// Runs all of it at the same time.
    package func run(_ prober: Prober) async -> [ProbeResult] {
        await withTaskGroup(of: [ProbeResult].self) { group in
            group.addTask { await prober.gateway(towards: direction) }
            group.addTask { [await prober.secondHop(towards: direction)] }
            group.addTask { [await prober.interception()] }
            for server in servers where server.wire.family == prober.family {
                for (purpose, question) in questions {
                    group.addTask { [await prober.ask(server, purpose, question)] }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// A name whose addresses everybody knows, and one that nobody has.
    private var questions: [(NamePurpose, DNSQuestion)] {
        let invented = String(chance() % (1 << 40), radix: 16)
        let names: [(NamePurpose, String)] = [
            (.known, "ipv4only.arpa"),
            (.invented, "\(String(repeating: "0", count: 10 - invented.count))\(invented).invalid"),
        ]
        return names.compactMap { purpose, text in
            DNSName(text).map { (purpose, DNSQuestion($0, .a, identifier: UInt16(truncatingIfNeeded: chance()))) }
        }
    }
}
