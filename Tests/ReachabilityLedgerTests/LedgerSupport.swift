import ReachabilityLedger

func at(_ milliseconds: Int64) -> LedgerInstant { LedgerInstant(nanoseconds: milliseconds * 1_000_000) }

let up = TargetState(.up)
let link = TargetState(.us, .link)
let route = TargetState(.us, .route)
let gone = TargetState(.unknown, .notObserved)

/// The ledger of a target, and its closed intervals and outages.
struct Book {
    private(set) var ledger: TargetLedger
    private(set) var closed: [LedgerInterval] = []
    private(set) var outages: [Outage] = []
    private(set) var events: [TargetLedger.Event] = []

    init(from start: LedgerInstant = at(0), _ state: TargetState = up) {
        ledger = TargetLedger(of: "internet", from: start, state)
    }

    mutating func take(
        _ state: TargetState,
        at instant: LedgerInstant,
        reason: String? = nil,
        uncertainty: Duration = .zero
    ) {
        note(ledger.take(state, reason: reason, at: instant, uncertainty: uncertainty))
    }

    mutating func refine(_ state: TargetState, reason: String? = nil) { note(ledger.refine(state, reason: reason)) }

    private mutating func note(_ events: [TargetLedger.Event]) {
        self.events += events
        for event in events {
            switch event {
            case .closed(let interval): closed.append(interval)
            case .outageEnded(let outage): outages.append(outage)
            case .opened, .refined, .outageBegan, .outageRefined: break
            }
        }
    }

    var intervals: [LedgerInterval] { closed + [ledger.current] }
}
