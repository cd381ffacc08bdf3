import Netlink

/// What is known of a host name's addresses, and when to ask again. Pure: it says what to do and does nothing.
struct NameState: Sendable {
    enum Answer: Hashable, Sendable {
        /// The name service has not answered yet.
        case pending
        case addresses([IPAddress])
        /// The name does not exist, or never could be asked about.
        case failed
    }

    /// Between two questions at least this long, however much the network changes.
    static let spacing = Duration.seconds(1)
    private static let backoffLimit = Duration.seconds(60)

    private(set) var answer = Answer.pending
    private(set) var isAsking = false
    private var failures = 0
    private var lastAsked: Duration?

    /// What this machine knows by itself counts until the name service says otherwise.
    mutating func know(_ addresses: [IPAddress]) {
        if answer == .pending, !addresses.isEmpty { answer = .addresses(addresses) }
    }

    /// Whether to ask now. One question at a time.
    mutating func ask(at now: Duration) -> Bool {
        guard !isAsking else { return false }
        isAsking = true
        lastAsked = now
        return true
    }

    /// Takes an answer and says whether it changed what is known. A name service out of reach does not undo what it said
    /// before: packets to the old addresses still tell the truth.
    mutating func take(_ result: Result<[IPAddress], NameLookup.Failure>) -> Bool {
        isAsking = false
        let before = answer
        switch result {
        case .success(let addresses) where !addresses.isEmpty:
            failures = 0
            answer = .addresses(addresses)
        case .failure(.unavailable):
            failures += 1
            if case .addresses = answer { break }
            answer = .failed
        default:
            failures += 1
            answer = .failed
        }
        return answer != before
    }

    /// How long to wait from `now` until asking again, if nothing changes: the interval, or 1, 2, 4 ... 60 s after
    /// failures.
    func delay(from now: Duration, interval: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        let wait = failures == 0 ? interval : min(Self.backoffLimit, .seconds(1 << min(failures - 1, 6)))
        return max(.zero, lastAsked + wait - now)
    }

    /// How long to wait from `now` until asking again after a change of the network.
    func delayAfterChange(from now: Duration) -> Duration {
        guard let lastAsked else { return .zero }
        return max(.zero, lastAsked + Self.spacing - now)
    }
}
