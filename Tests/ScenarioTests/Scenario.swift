import NetworkLab
import Testing

/// One change of a network and its reversal, with what packets must do before, after and back again.
///
/// Scripts are commands separated by `;` or line ends; see `Stage`. A pattern names the targets that answer: `g` the
/// network at large, `4` the IPv4 host, `6` the IPv6 host, `a`, `b`, ... the scenario's own hosts, and `w` when the
/// way is a WWAN link. `?` means that chance decides: packets are sent, and the product must say what became of them.
struct Scenario: Sendable {
    /// What the product is measured against.
    enum Measure: Sendable {
        /// It says what packets do.
        case packets
        /// The kernel has no way to know; the product must not say a word about the change.
        case kernelCannotKnow
        /// It says this instead in the middle phase, for the reason given.
        case exception(told: String, because: String)
    }

    let id: String
    let title: String
    var uplinks = Topology.Uplinks.oneWithDefaults
    var setup = ""
    let change: String
    let undo: String
    var before = "g46"
    let after: String
    var back = "g46"
    /// Targets besides the network at large and the two standard hosts.
    var hosts: [String] = []
    var measure = Measure.packets
    var needs: [Need] = []
    /// Lines between the first and the last are in order, because the network really went through them.
    var mayFlip = false
    /// No other scenario runs beside it, so that a burst of changes is not torn apart for want of a processor.
    var alone = false
    /// How long nothing more may be said once all agree on the change.
    var quiet = Duration.milliseconds(300)

    static let all = groups.flatMap(\.self)

    private static let groups = [
        links, carriers, flaps, devices, uplinkPairs, addresses, lifetimes, sources, defaultRoutes, partialRoutes,
        swaps,
        refusals, rules, sourceRules, tables, nextHops, nextHopGroups, multipath, stacked, tunnels, modems, locals,
        unusual, unknowable, irrelevant,
    ]
}

extension Scenario: CustomTestStringConvertible {
    var testDescription: String { "\(id): \(title)" }
}
