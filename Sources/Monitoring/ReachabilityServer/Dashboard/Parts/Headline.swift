import LinuxSupport
package import ReachabilityLedger
package import ReachabilityService

/// The one sentence on top of the overview, and since when it holds.
///
/// It describes this machine or its provider only if the network at large is down, or if all targets are, by the same cause. Otherwise it
/// counts the targets that are down.
struct Headline {
    /// The name of the target whose state describes the network at large.
    private static let atLarge = "internet"
    /// The maximum number of names in it.
    private static let nameLimit = 5

    /// The account that has the sentence's colour and sign.
    let account: LedgerAccount
    /// Whether targets are degraded, and none is down.
    private let isDegraded: Bool
    /// The sentence without its end.
    let sentence: String
    /// The time since which the sentence holds.
    let since: LedgerInstant
    /// Further sentences.
    let lead: HTML

    /// A target and its state.
    private struct Entry {
        let name: String
        let current: LedgerInterval
        /// The beginning of the outage, or of the state if it is not an outage.
        let since: LedgerInstant

        var state: TargetState { current.state }
    }

    init(_ snapshot: MonitoringService.Snapshot) {
        let entries = snapshot.books.targets.compactMap { name in
            snapshot.books.accounts[name].map { account in
                Entry(
                    name: name,
                    current: account.ledger.current,
                    since: account.ledger.outage?.start ?? account.ledger.current.start
                )
            }
        }
        let down = entries.filter(\.state.isOutage)
        let unknown = entries.filter { $0.state.account == .unknown }
        let degraded = entries.filter(\.state.isDegraded)
        let affected = [down, unknown, degraded].first { !$0.isEmpty } ?? []
        isDegraded = down.isEmpty && unknown.isEmpty && !degraded.isEmpty
        guard !affected.isEmpty else {
            account = .up
            sentence = entries.isEmpty ? "Nothing is watched" : "Everything works"
            since = entries.map(\.current.start).max() ?? snapshot.now
            lead = Self.lead(entries.map(\.state))
            return
        }
        account = Self.account(of: affected)
        if let one = Self.representative(of: affected, among: entries) {
            sentence = Words.sentence(one.state, of: one.name)
            since = one.since
            let others = affected.filter { $0.name != one.name }
            let count: HTML? =
                entries.count > 1 ? " \(Self.count(affected, of: entries)): \(Self.names([one] + others))." : nil
            lead = "\(Self.meaning(of: one, snapshot))\(count)"
        } else {
            sentence = Self.count(affected, of: entries)
            since = affected.map(\.since).max() ?? snapshot.now
            let unknown: HTML? =
                down.isEmpty || unknown.isEmpty ? nil : " \(Self.count(unknown, of: entries)): \(Self.names(unknown))."
            if affected.count == 1 {
                let words = Words.sentence(affected[0].state, of: affected[0].name)
                let name: HTML? = words.contains(affected[0].name) ? nil : "\(affected[0].name): "
                lead = "\(name)\(words). \(Self.meaning(of: affected[0], snapshot))\(unknown)"
            } else {
                lead = "\(Self.names(affected)).\(unknown)"
            }
        }
    }

    /// The account of most of these targets; of several the one that is nearest to this machine.
    private static func account(of affected: [Entry]) -> LedgerAccount {
        func count(_ account: LedgerAccount) -> Int { affected.count { $0.state.account == account } }
        return [LedgerAccount.us, .upstream, .them, .unknown, .up].max { count($0) < count($1) } ?? .unknown
    }

    /// The target whose state describes all that is affected; nil if only a count does.
    private static func representative(of affected: [Entry], among all: [Entry]) -> Entry? {
        if all.count == 1 { return affected[0] }
        if let atLarge = affected.first(where: { $0.name == Self.atLarge }), !atLarge.state.isDegraded {
            return atLarge
        }
        let watched = all.count { $0.state.account != .maintenance }
        let first = affected[0].state
        let agree = affected.allSatisfy { ($0.state.attribution, $0.state.cause) == (first.attribution, first.cause) }
        return affected.count == watched && agree && Words.isGeneral(first) ? affected[0] : nil
    }

    /// For example `5 of 13 targets are down`.
    private static func count(_ affected: [Entry], of all: [Entry]) -> String {
        let number =
            affected.count == all.count ? "All \(all.count) targets" : "\(affected.count) of \(all.count) targets"
        let state =
            affected[0].state.isDegraded ? "degraded" : affected[0].state.isOutage ? "down" : "not observed"
        return "\(number) \(affected.count == 1 ? "is" : "are") \(state)"
    }

    private static func names(_ entries: [Entry]) -> String {
        let names = entries.prefix(nameLimit).map(\.name).joined(separator: ", ")
        return entries.count > nameLimit ? "\(names) and \(entries.count - nameLimit) more" : names
    }

    /// The meaning of a target's reason, with a remedy; otherwise the check's sentence.
    private static func meaning(of entry: Entry, _ snapshot: MonitoringService.Snapshot) -> HTML? {
        Words.explanation(entry.current.reason).map { "\($0.meaning) <span class=\"remedy\">\($0.remedy)</span>" }
            ?? snapshot.checkSentence(of: entry.name).map { "\($0)" }
    }

    private static func lead(_ states: [TargetState]) -> HTML {
        let what = states.count == 1 ? "A packet would leave this machine" : "All \(states.count) targets are up"
        let basis =
            states.contains { $0.basis == .checks } ? "the kernel and by checks" : "the kernel alone, without a packet"
        return states.isEmpty ? "" : "\(what). Known from \(basis); a change shows here the moment it happens."
    }

    func html(_ snapshot: MonitoringService.Snapshot) -> HTML {
        let isFine = account == .up && !isDegraded
        return """
            <section class="hero t-\(mark)" data-part="hero">\(Sign.svg(mark: mark, size: "big"))\
            <div><h1 data-say="\(sentence)">\(sentence)\(isFine ? "." : "") <span class="when">\
            \(isFine ? "Since " : "since ")\(snapshot.time(since)) (\(snapshot.lasting(since: since))).</span></h1>\
            <p class="lead">\(lead)</p></div></section>
            """
    }

    private var mark: String { isDegraded ? TargetState.degradedMark : account.rawValue }
}

extension MonitoringService.Snapshot {
    /// The one sentence on top, without its end.
    package var headline: String { Headline(self).sentence }
}

/// The sign of a state: each has a shape of its own, so that colour never says anything alone.
package enum Sign {
    package static func svg(_ account: LedgerAccount, size: String = "small") -> HTML {
        svg(mark: account.rawValue, size: size)
    }

    /// - Parameter mark: The mark of a state: ``ReachabilityLedger/TargetState/mark``.
    static func svg(mark: String, size: String = "small") -> HTML {
        "<svg class=\"sign \(size) c-\(mark)\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><use href=\"#i-\(mark)\"/></svg>"
    }

    static func pill(_ state: TargetState) -> HTML {
        guard state.isDegraded else { return pill(state.account) }
        return "<span class=\"pill t-\(state.mark)\">\(svg(mark: state.mark))degraded</span>"
    }

    /// The state as a word with its sign.
    package static func pill(_ account: LedgerAccount) -> HTML {
        "<span class=\"pill t-\(account.rawValue)\">\(svg(account))\(Words.name(account))</span>"
    }

    /// What the colours and patterns of these mean.
    package static func legend(_ accounts: [LedgerAccount], withDegraded: Bool = false) -> HTML {
        var marks = accounts.map { (mark: $0.rawValue, name: Words.name($0)) }
        if withDegraded { marks.insert((TargetState.degradedMark, "degraded"), at: 1) }
        let items = marks.map { mark, name -> HTML in
            let paint: HTML = mark == "up" ? "" : " fill=\"url(#p-\(mark))\""
            return """
                <li><svg class="swatch" width="20" height="12" aria-hidden="true"><rect class="k-\(mark) \
                \(mark == "up" ? "s-up" : "")" width="20" height="12"\(paint)/></svg>\(name)</li>
                """
        }
        return "<ul class=\"legend\">\(items)</ul>"
    }
}

extension TargetState {
    fileprivate static let degradedMark = "degraded"

    /// The part of the names of its style classes and drawings: the account, or `degraded`.
    var mark: String { isDegraded ? Self.degradedMark : account.rawValue }
}
