import Foundation
import NetworkLab
import Testing

/// A working or broken network: its construction, its proof by plain packets, and the expected verdict.
struct Situation: Sendable {
    /// The arguments of the command in addition to those of the situation.
    enum Ask: String, Sendable {
        /// `--private`.
        case privately
        /// No arguments.
        case plainly
        /// Anchors, by their names.
        case anchors
        /// Anchors with given addresses, so that they need no name server.
        case anchorsByAddress
    }

    /// One run of the situation.
    struct Variant: Sendable {
        let line: Line
        let ask: Ask
        /// True to run as the user 65534 without permission for echoes, false to run as root.
        var isNobody = false
    }

    /// The expected result.
    struct Right: Sendable {
        let places: Set<String>
        /// The permitted reasons. If empty, any reason.
        var reasons: Set<String> = []
    }

    /// A change after the first answer, and the expected result afterwards.
    struct Sequel: Sendable {
        let steps: [Step]
        let facts: [Fact]
        let right: Right
    }

    /// The identifier, a colon, and the title.
    let name: String
    /// The row of the table in docs/checks.md.
    var row: Int?
    var steps: [Step] = []
    /// Names and addresses in addition to those of every world.
    var zone: [String: [String]] = [:]
    var names = NameServer.Behaviour.well
    /// The answers for single names.
    var exceptions: [String: NameServer.Behaviour.Answer] = [:]
    var secondNames = NameServer.Behaviour.well
    /// The behaviour of a name server at the router; nil without one.
    var routerNames: NameServer.Behaviour?
    var resolvers: [Spot] = [.resolver]
    var sites = Site.usual
    let facts: [Fact]
    /// Steps after the proof and immediately before the command.
    var late: [Step] = []
    var variants = Variant.line
    /// The URLs of anchors, if anchors are used.
    var anchors = Situation.twoAnchors
    /// The options in addition to those of the variant.
    var arguments: [String] = []
    /// The target of the check; nil for the internet. A target may cost more.
    var target: String?
    /// True if a stalled request is repeated with small segments.
    var isRepeated = false
    /// True if every third packet is lost, and sent again.
    var isLossy = false
    /// The maximum number of packets, if it differs from the usual one.
    var mostPackets: Int?
    let right: Right
    var sequel: Sequel?

    /// One anchor over HTTP, and one over HTTPS.
    static let twoAnchors = ["http://anchor.example/204", "https://second.example/204"]
    static let fourAnchors = twoAnchors + ["https://anchor.example/204", "http://second.example/204"]

    static let all = [
        well, machine, link, gateway, upstream, segments, portal, nameService, trust, anchors, hosts, services,
        families,
        unusual, tunnels, pairs,
    ].flatMap(\.self)
}

extension Situation.Variant {
    /// For faults that affect all packets.
    static let line = [
        Situation.Variant(line: .ipv4, ask: .privately, isNobody: true),
        Situation.Variant(line: .ipv6, ask: .anchors),
        Situation.Variant(line: .dual, ask: .plainly, isNobody: true),
    ]
    static let both = [
        Situation.Variant(line: .ipv4, ask: .anchors),
        Situation.Variant(line: .ipv6, ask: .privately, isNobody: true),
    ]
    /// For faults that only anchors show.
    static let anchored = [
        Situation.Variant(line: .ipv4, ask: .anchors, isNobody: true),
        Situation.Variant(line: .ipv6, ask: .anchors),
    ]
    /// For faults of names.
    static let addressed = [
        Situation.Variant(line: .ipv4, ask: .anchorsByAddress, isNobody: true),
        Situation.Variant(line: .ipv6, ask: .anchorsByAddress),
    ]
    static let dual = [Situation.Variant(line: .dual, ask: .anchors, isNobody: true)]
    static let onlyIPv4 = [Situation.Variant(line: .ipv4, ask: .anchors, isNobody: true)]
    static let onlyIPv6 = [Situation.Variant(line: .ipv6, ask: .anchors, isNobody: true)]
}

extension Situation {
    var id: String { String(name.prefix { $0 != ":" }) }
}

extension Situation.Right {
    static func place(_ place: String, _ reasons: String...) -> Situation.Right {
        Situation.Right(places: [place], reasons: Set(reasons))
    }

    static let works = place("works")
}

/// A situation and one of its variants: a test case.
struct SituationCase: Sendable, CustomTestStringConvertible {
    let situation: Situation
    let variant: Situation.Variant

    var testDescription: String {
        let row = situation.row.map { "row \($0), " } ?? ""
        return "\(situation.name) (\(row)\(variant.line), \(variant.ask)\(variant.isNobody ? ", nobody" : ""))"
    }

    /// All variants of all situations, or of those whose identifiers are in SITUATIONS, separated by commas.
    static let named: [SituationCase] = {
        let names = ProcessInfo.processInfo.environment["SITUATIONS"]?.split(separator: ",").map(String.init)
        return Situation.all.filter { names?.contains($0.id) ?? true }.flatMap { situation in
            situation.variants.map { SituationCase(situation: situation, variant: $0) }
        }
    }()
}
