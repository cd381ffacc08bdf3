import LinuxPrimitives
package import ReachabilityLedger
package import ReachabilityService

/// The one sentence on top: how all targets are, the worst first.
struct Headline {
    /// Whose colour and sign it has.
    let account: LedgerAccount
    /// Without its end.
    let sentence: String
    /// Since when it is so.
    let since: LedgerInstant
    /// What else there is to say.
    let lead: HTML

    init(_ snapshot: MonitoringService.Snapshot) {
        let states = snapshot.books.targets.compactMap { name in
            snapshot.books.accounts[name].map { (name: name, current: $0.ledger.current) }
        }
        let bad = states.filter { $0.current.state.account != .up && $0.current.state.account != .maintenance }
        // What is broken near explains what is broken far.
        let order: [LedgerAccount] = [.us, .upstream, .them, .unknown]
        let worst = order.lazy.compactMap { account in bad.first { $0.current.state.account == account } }.first
        guard let worst else {
            account = .up
            sentence = states.isEmpty ? "Nothing is watched" : "Everything works"
            since = states.map(\.current.start).max() ?? snapshot.now
            lead = Self.lead(states.map(\.current.state))
            return
        }
        account = worst.current.state.account
        sentence = Words.sentence(worst.current.state, of: worst.name)
        since = snapshot.books.accounts[worst.name]?.ledger.outage?.start ?? worst.current.start
        let explanation = Words.explanation(worst.current.reason)
        let meaning: HTML? =
            explanation.map { "\($0.meaning) <span class=\"remedy\">\($0.remedy)</span>" }
            ?? snapshot.checkSentence(of: worst.name).map { "\($0)" }
        let others = bad.filter { $0.name != worst.name }.map(\.name)
        let which: HTML? =
            states.count > 1
            ? " \(bad.count) of \(states.count) targets concerned: \(([worst.name] + others).joined(separator: ", "))."
            : nil
        lead = "\(meaning)\(which)"
    }

    private static func lead(_ states: [TargetState]) -> HTML {
        let what = states.count == 1 ? "A packet would leave this machine" : "All \(states.count) targets are up"
        let basis =
            states.contains { $0.basis == .checks } ? "the kernel and by checks" : "the kernel alone, without a packet"
        return states.isEmpty ? "" : "\(what). Known from \(basis); a change shows here the moment it happens."
    }

    func html(_ snapshot: MonitoringService.Snapshot) -> HTML {
        """
        <section class="hero t-\(account.rawValue)" data-part="hero">\(Sign.svg(account, size: "big"))\
        <div><h1 data-say="\(sentence)">\(sentence)\(account == .up ? "." : "") <span class="when">\
        \(account == .up ? "Since " : "since ")\(snapshot.time(since)) (\(snapshot.lasting(since: since))).</span></h1>\
        <p class="lead">\(lead)</p></div></section>
        """
    }
}

extension MonitoringService.Snapshot {
    /// The one sentence on top, without its end.
    package var headline: String { Headline(self).sentence }
}

/// The sign of a state: each has a shape of its own, so that colour never says anything alone.
package enum Sign {
    package static func svg(_ account: LedgerAccount, size: String = "small") -> HTML {
        "<svg class=\"sign \(size) c-\(account.rawValue)\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><use href=\"#i-\(account.rawValue)\"/></svg>"
    }

    /// The state as a word with its sign.
    package static func pill(_ account: LedgerAccount) -> HTML {
        "<span class=\"pill t-\(account.rawValue)\">\(svg(account))\(Words.name(account))</span>"
    }

    /// What the colours and patterns of these mean.
    package static func legend(_ accounts: [LedgerAccount]) -> HTML {
        let items = accounts.map { account -> HTML in
            let paint: HTML = account == .up ? "" : " fill=\"url(#p-\(account.rawValue))\""
            return """
                <li><svg class="swatch" width="20" height="12" aria-hidden="true"><rect class="k-\(account.rawValue) \
                \(account == .up ? "s-up" : "")" width="20" height="12"\(paint)/></svg>\(Words.name(account))</li>
                """
        }
        return "<ul class=\"legend\">\(items)</ul>"
    }
}
