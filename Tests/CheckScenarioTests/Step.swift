/// A command that breaks or repairs the world.
struct Step: Sendable {
    enum Command: Sendable {
        /// A command of ip(8) without `ip`. `@spare` is replaced by the spare namespace, for `netns`.
        case ip(String)
        /// A command of nft(8). The chains are those of ``World``.
        case nft(String)
        /// A kernel parameter.
        case sysctl(String, String)
        /// A command of bash(1), which must end soon.
        case shell(String)
    }

    let station: Station
    let command: Command
    /// The family; the step is skipped if the pc does not have it. Nil for any.
    var family: Family?

    static func ip(_ station: Station, _ command: String) -> Step { Step(station: station, command: .ip(command)) }

    /// Returns a command for each family.
    static func ip(_ station: Station, _ ipv4: String, _ ipv6: String) -> [Step] {
        [
            Step(station: station, command: .ip(ipv4), family: .ipv4),
            Step(station: station, command: .ip(ipv6), family: .ipv6),
        ]
    }

    /// Returns a rule at the end of a chain of the table `lab`: prerouting, input, forward or output.
    static func rule(_ station: Station, _ chain: String, _ rule: String) -> Step {
        Step(station: station, command: .nft("add rule inet lab \(chain) \(rule)"))
    }

    /// Returns a rule for each family that changes the destination of new connections.
    static func redirect(_ station: Station, _ ipv4: String, _ ipv6: String) -> [Step] {
        [
            Step(station: station, command: .nft("add rule ip nat prerouting \(ipv4)")),
            Step(station: station, command: .nft("add rule ip6 nat prerouting \(ipv6)")),
        ]
    }

    /// Returns a step after which an interface receives no packet, including ARP and neighbour discovery. The station looks dead, and the
    /// carrier stays.
    static func deaf(_ station: Station, _ device: String) -> Step {
        let chain =
            "add chain netdev dead \(device) { type filter hook ingress device \"\(device)\" priority 0; policy drop; }"
        return Step(station: station, command: .nft("add table netdev dead\n\(chain)"))
    }

    /// Returns a step that removes all rules of the table `lab`.
    static func mend(_ station: Station) -> Step { Step(station: station, command: .nft("flush table inet lab")) }

    /// Sets the pc's link-layer address, for `permanentStation`. The kernel's neighbour entries are lost.
    static let knownStation = ip(.pc, "link set p0 address 02:00:00:00:01:02")

    /// The router never asks for the pc's link-layer address.
    static let permanentStation: [Step] = ["2", "3"].flatMap { host in
        Step.ip(
            .router,
            "neigh replace 192.168.1.\(host) lladdr 02:00:00:00:01:02 dev r0 nud permanent",
            "neigh replace 3fff:1::\(host) lladdr 02:00:00:00:01:02 dev r0 nud permanent"
        )
    }

    /// Sends ten unsolicited datagrams per second to the pc for a minute. The router need not receive anything for this.
    static let noise: [Step] =
        permanentStation
        + [("192.168.1.2", Family.ipv4), ("3fff:1::2", .ipv6)].map { address, family in
            // One process waits for all pauses. On a busy machine a process per pause would not be regular.
            let send = "exec 3<> <(:); for i in {1..600}; do echo > /dev/udp/\(address)/9; read -rt 0.1 -u 3; done"
            return Step(station: .router, command: .shell("(\(send)) > /dev/null 2>&1 < /dev/null &"), family: family)
        }

    static func sysctl(_ station: Station, _ name: String, _ value: String) -> Step {
        Step(station: station, command: .sysctl(name, value))
    }
}
