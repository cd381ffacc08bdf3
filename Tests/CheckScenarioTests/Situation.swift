import Foundation
import NetworkLab
import Testing

/// One way in which a network is broken, or not: how it is made, how plain packets prove it, and what is right.
struct Situation: Sendable {
    /// What the command is asked, besides arguments of the situation.
    enum Ask: String, Sendable {
        /// With `--private`.
        case privately
        /// With nothing.
        case plainly
        /// With anchors, by their names.
        case anchors
        /// With anchors whose addresses are given, so that they need no name server.
        case anchorsByAddress
    }

    /// One run of the situation.
    struct Variant: Sendable {
        let line: Line
        let ask: Ask
        /// As the user 65534, who may not send an echo; else as root.
        var isNobody = false
    }

    /// What is right.
    struct Right: Sendable {
        let places: Set<String>
        /// Any, where it is empty.
        var reasons: Set<String> = []
    }

    /// What happens after a first answer, and what is right then.
    struct Sequel: Sendable {
        let steps: [Step]
        let facts: [Fact]
        let right: Right
    }

    let id: String
    let title: String
    /// The row of the table in docs/checks.md.
    var row: Int?
    var steps: [Step] = []
    /// Names and addresses besides those that every world has.
    var zone: [String: [String]] = [:]
    var names = NameServer.Behaviour.well
    /// What is said of single names.
    var exceptions: [String: NameServer.Behaviour.Answer] = [:]
    var secondNames = NameServer.Behaviour.well
    /// Of a name server at the router, where there is one.
    var routerNames: NameServer.Behaviour?
    var resolvers: [Spot] = [.resolver]
    var sites = Site.usual
    let facts: [Fact]
    /// What happens once the facts are proven, right before the command.
    var late: [Step] = []
    var variants = Variant.line
    /// Which URLs are anchors, where anchors are asked.
    var anchors = Situation.twoAnchors
    var arguments: [String] = []
    /// Whether one of the arguments is a target, which may cost more.
    var hasTarget = false
    /// Whether what stalls has to be asked once more in small segments.
    var isRepeated = false
    /// How many packets it may cost, where that is fewer than usual.
    var mostPackets: Int?
    let right: Right
    var sequel: Sequel?

    /// One by each layer.
    static let twoAnchors = ["http://anchor.example/204", "https://second.example/204"]
    static let fourAnchors = twoAnchors + ["https://anchor.example/204", "http://second.example/204"]

    static let all = [
        well, machine, link, gateway, upstream, segments, portal, nameService, trust, anchors, hosts, services,
        families,
        unusual, tunnels, pairs,
    ].flatMap(\.self)
}

extension Situation.Variant {
    /// For what becomes of all packets alike.
    static let line = [
        Situation.Variant(line: .ipv4, ask: .privately, isNobody: true),
        Situation.Variant(line: .ipv6, ask: .anchors),
        Situation.Variant(line: .dual, ask: .plainly, isNobody: true),
    ]
    static let both = [
        Situation.Variant(line: .ipv4, ask: .anchors),
        Situation.Variant(line: .ipv6, ask: .privately, isNobody: true),
    ]
    /// For what only anchors tell.
    static let anchored = [
        Situation.Variant(line: .ipv4, ask: .anchors, isNobody: true),
        Situation.Variant(line: .ipv6, ask: .anchors),
    ]
    /// For what is wrong with names.
    static let addressed = [
        Situation.Variant(line: .ipv4, ask: .anchorsByAddress, isNobody: true),
        Situation.Variant(line: .ipv6, ask: .anchorsByAddress),
    ]
    static let dual = [Situation.Variant(line: .dual, ask: .anchors, isNobody: true)]
    static let onlyIPv4 = [Situation.Variant(line: .ipv4, ask: .anchors, isNobody: true)]
    static let onlyIPv6 = [Situation.Variant(line: .ipv6, ask: .anchors, isNobody: true)]
}

extension Situation.Right {
    static func place(_ place: String, _ reasons: String...) -> Situation.Right {
        Situation.Right(places: [place], reasons: Set(reasons))
    }

    static let works = place("works")
}

/// A situation and one of its variants: a test.
struct SituationCase: Sendable, CustomTestStringConvertible {
    let situation: Situation
    let variant: Situation.Variant

    var testDescription: String {
        let row = situation.row.map { "row \($0), " } ?? ""
        return
            "\(situation.id) (\(row)\(variant.line), \(variant.ask)\(variant.isNobody ? ", nobody" : "")): \(situation.title)"
    }

    /// All variants of all situations, or of those whose identifiers SITUATIONS names, separated by commas.
    static let named: [SituationCase] = {
        let names = ProcessInfo.processInfo.environment["SITUATIONS"]?.split(separator: ",").map(String.init)
        return Situation.all.filter { names?.contains($0.id) ?? true }.flatMap { situation in
            situation.variants.map { SituationCase(situation: situation, variant: $0) }
        }
    }()
}
