/// One command that breaks the world, or mends it.
struct Step: Sendable {
    enum Command: Sendable {
        /// A command of ip(8) without `ip`; `@spare` is where the spare namespace is, for `netns`.
        case ip(String)
        /// A command of nft(8); the chains are those of ``World``.
        case nft(String)
        /// A kernel parameter.
        case sysctl(String, String)
        /// A command of bash(1), which must not last.
        case shell(String)
    }

    let station: Station
    let command: Command
    /// Only where the pc has this family.
    var family: Family?

    static func ip(_ station: Station, _ command: String) -> Step { Step(station: station, command: .ip(command)) }

    /// With a command for each family.
    static func ip(_ station: Station, _ ipv4: String, _ ipv6: String) -> [Step] {
        [
            Step(station: station, command: .ip(ipv4), family: .ipv4),
            Step(station: station, command: .ip(ipv6), family: .ipv6),
        ]
    }

    /// A rule at the end of a chain of the table `lab`: prerouting, input, forward or output.
    static func rule(_ station: Station, _ chain: String, _ rule: String) -> Step {
        Step(station: station, command: .nft("add rule inet lab \(chain) \(rule)"))
    }

    /// A rule that changes where new connections go, for each family.
    static func redirect(_ station: Station, _ ipv4: String, _ ipv6: String) -> [Step] {
        [
            Step(station: station, command: .nft("add rule ip nat prerouting \(ipv4)")),
            Step(station: station, command: .nft("add rule ip6 nat prerouting \(ipv6)")),
        ]
    }

    /// Nothing that comes to a device is seen any more, ARP and neighbour discovery neither: who is behind it is dead, and the
    /// cable stays.
    static func deaf(_ station: Station, _ device: String) -> Step {
        let chain =
            "add chain netdev dead \(device) { type filter hook ingress device \"\(device)\" priority 0; policy drop; }"
        return Step(station: station, command: .nft("add table netdev dead\n\(chain)"))
    }

    /// No rule of the table `lab` is left.
    static func mend(_ station: Station) -> Step { Step(station: station, command: .nft("flush table inet lab")) }

    /// The pc's link-layer address, for `noise`. What the kernel knew of neighbours is lost by that.
    static let knownStation = ip(.pc, "link set p0 address 02:00:00:00:01:02")

    /// Ten datagrams in a second to the pc, where nobody wants them, for a minute. The router need not hear anything for that.
    static let noise: [Step] =
        Step.ip(
            .router,
            "neigh replace 192.168.1.2 lladdr 02:00:00:00:01:02 dev r0 nud permanent",
            "neigh replace 3fff:1::2 lladdr 02:00:00:00:01:02 dev r0 nud permanent"
        )
        + [("192.168.1.2", Family.ipv4), ("3fff:1::2", .ipv6)].map { address, family in
            // No process for each pause: on a busy machine they would not come evenly.
            let send = "exec 3<> <(:); for i in {1..600}; do echo > /dev/udp/\(address)/9; read -rt 0.1 -u 3; done"
            return Step(station: .router, command: .shell("(\(send)) > /dev/null 2>&1 < /dev/null &"), family: family)
        }

    static func sysctl(_ station: Station, _ name: String, _ value: String) -> Step {
        Step(station: station, command: .sysctl(name, value))
    }
}
