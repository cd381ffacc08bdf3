import Foundation
import NetworkLab
import Testing

/// A change of a network and its reversal, with the targets that packets must reach before the change, after it and
/// after the reversal.
///
/// Scripts are commands separated by `;` or line ends; see `Stage`. A pattern names the targets that answer: `g` is
/// the network at large, `4` the IPv4 host, `6` the IPv6 host, and `a`, `b`, ... are the scenario's own hosts. `w`
/// means that the path is a WWAN link. `?` means that the result depends on chance: the test sends packets, and the
/// product must report the result.
struct Scenario: Sendable {
    /// What the product must report in the middle phase.
    enum Measure: Sendable {
        /// The product must report the targets that packets reach.
        case packets
        /// The kernel cannot detect the change, so the product must not report it.
        case kernelCannotKnow
        /// The product must report the pattern `told` instead, for the given reason.
        case exception(told: String, because: String)
    }

    /// The identifier, a colon, and the title.
    let name: String
    var uplinks = Topology.Uplinks.oneWithDefaults
    var setup = ""
    let change: String
    let undo: String
    /// The patterns before the change, after it, and after the reversal.
    let reached: (before: String, after: String, back: String)
    /// Targets besides the network at large and the two standard hosts.
    var hosts: [String] = []
    var measure = Measure.packets
    var needs: [Need] = []
    /// Whether lines between the first and the last are allowed, because the network really was in these states.
    var mayFlip = false
    /// Whether no other scenario may run at the same time. A busy processor could delay parts of a burst of changes.
    var alone = false
    /// The time without further lines after all lines agree on the change.
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
    var testDescription: String { name }

    var id: Substring { name.prefix { $0 != ":" } }
}

/// A watched target: a host, or the network at large.
struct Target: Hashable {
    /// Its letter in the patterns of scenarios.
    let letter: Character
    /// Its address, or nil for the network at large.
    let host: String?

    static let large = Target(letter: "g", host: nil)

    /// The hosts of a scenario.
    static func hosts(of scenario: Scenario) -> [Target] {
        zip("46", Topology.hosts).map(Target.init) + zip("abcdef", scenario.hosts).map(Target.init)
    }

    /// The targets that packets reach in a phase with the pattern `?`. It asks several times, so that a late answer
    /// counts.
    static func answering(_ targets: [Target], _ oracle: PacketOracle) throws -> [Target] {
        let addresses = targets.compactMap(\.host) + LargeNetwork.ipv4 + LargeNetwork.ipv6
        var answering: Set<String> = []
        for _ in 0..<4 {
            for (address, answer) in try oracle.answers(of: addresses) where answer.isReachable {
                answering.insert(address)
            }
        }
        return targets.filter { $0.host.map(answering.contains) ?? LargeNetwork.isReachable(answering) }
    }

    /// The targets that packets reach. Returns when they match the pattern, or at the time limit. Returns nil if the
    /// pattern contains `?`.
    static func reached(
        _ targets: [Target],
        by oracle: PacketOracle,
        claimed pattern: String,
        within limit: Duration
    ) throws -> Set<Target>? {
        guard !pattern.contains("?") else { return nil }
        let claimed = Set(targets.filter { pattern.contains($0.letter) })
        let deadline = Deadline(after: limit)
        let addresses = targets.compactMap(\.host) + LargeNetwork.ipv4 + LargeNetwork.ipv6
        while true {
            let answers = try oracle.answers(of: addresses).filter(\.value.isReachable)
            let answering = Set(answers.keys)
            let reached = Set(
                targets.filter { target in
                    target.host.map(answering.contains) ?? LargeNetwork.isReachable(answering)
                }
            )
            if reached == claimed || deadline.hasPassed { return reached }
            LabThread.pause(.milliseconds(20))
        }
    }
}

/// One line of `reachability status --json` and `reachability watch --json`.
struct StatusLine: Decodable {
    let schema: Int
    let time: String
    let monotonicNanoseconds: UInt64
    let target: String?
    let status: String
    let connectionType: String?
    let flags: [String]
    let interface: String?
    let interfaceType: String?
    let gateway: String?
    let source: String?
    let reason: String?
    let generation: UInt64

    init(parsing text: some StringProtocol) throws {
        do {
            self = try JSONDecoder().decode(StatusLine.self, from: Data(text.utf8))
        } catch {
            throw LabError("not a status line: \(text) (\(error))")
        }
        if let contradiction { throw LabError("\(contradiction): \(text)") }
        guard schema == 1, time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil else {
            throw LabError("not a status line of schema 1: \(text)")
        }
    }

    /// The part of the line that is compared with the result of the packets.
    var said: Expectation { Expectation(status: status, connectionType: connectionType) }

    /// The first contradiction between the members of the line, if any.
    private var contradiction: String? {
        let isReachable = status == "reachable"
        let rules = [
            "reachable without the flag": isReachable && !flags.contains("reachable"),
            "reachable with a reason": isReachable && reason != nil,
            "reachable without interface, source or type": isReachable
                && (interface == nil || source == nil || connectionType == nil),
            "not reachable without a reason": status == "notReachable" && reason == nil,
            "not reachable with a type": !isReachable && connectionType != nil,
            "type and flag differ": isReachable && (connectionType == "wwan") != flags.contains("isWWAN"),
            "direct with a gateway": flags.contains("isDirect") && gateway != nil,
        ]
        return rules.first(where: \.value)?.key
    }
}
