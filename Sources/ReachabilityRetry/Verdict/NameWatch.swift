import Netlink
import NetworkReachability

/// A host by name, as long as it is not resolved together with the network at large: a name cannot be asked about while the cable is
/// out, and then it is that which stands in the way.
///
/// | The name | At large | Then |
/// |---|---|---|
/// | resolved | any | what is so of its addresses |
/// | being resolved | not reachable | not reachable, for the reason at large |
/// | not resolved | not reachable, but for `noRoute` | the same |
/// | not resolved | `noRoute`: a name server nearby may have said so | not resolved |
/// | being resolved, or not resolved | reachable or unknown | what is so of the name |
final class NameWatch: VerdictWatch {
    fileprivate struct State {
        var host = RetryVerdict.unknown
        var atLarge = RetryVerdict.unknown
        /// Which of the two decided last, and its generation.
        var decision: (isAtLarge: Bool, generation: UInt64) = (false, 0)
        var generation: UInt64 = 0
    }

    private let state: Locked<State>
    private let host: any VerdictWatch
    private let atLarge: any VerdictWatch

    /// - Parameters:
    ///   - listener: Told of changes.
    ///   - host: Begins to follow the host.
    ///   - atLarge: Begins to follow the network at large.
    init(
        _ listener: @escaping @Sendable (RetryVerdict) -> Void,
        host: (@escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch,
        atLarge: (@escaping @Sendable (RetryVerdict) -> Void) -> any VerdictWatch
    ) {
        let state = Locked(State())
        self.state = state
        self.host = host { news in listener(state.withLock { $0.take(host: news) }) }
        self.atLarge = atLarge { news in listener(state.withLock { $0.take(atLarge: news) }) }
    }

    func ask() -> RetryVerdict {
        let name = host.ask()
        let verdict = state.withLock { $0.take(host: name) }
        guard name.isUnresolved else { return verdict }
        let network = atLarge.ask()
        return state.withLock { $0.take(atLarge: network) }
    }
}

extension NameWatch.State {
    /// Takes what is so of the host, unless something newer is known. Returns what is so of both.
    fileprivate mutating func take(host news: RetryVerdict) -> RetryVerdict {
        if news.generation >= host.generation { host = news }
        return decide()
    }

    /// Takes what is so of the network at large, unless something newer is known. Returns what is so of both.
    fileprivate mutating func take(atLarge news: RetryVerdict) -> RetryVerdict {
        if news.generation >= atLarge.generation { atLarge = news }
        return decide()
    }

    private mutating func decide() -> RetryVerdict {
        let isAnswer = host.reason == .nameNotResolved && atLarge.reason == .noRoute
        let isAtLarge = host.isUnresolved && atLarge.status == .notReachable && !isAnswer
        var verdict = isAtLarge ? atLarge : host
        let decision = (isAtLarge, verdict.generation)
        if decision != self.decision || generation == 0 { generation += 1 }
        self.decision = decision
        verdict.generation = generation
        return verdict
    }
}

extension RetryVerdict {
    /// Whether it is of a name without an address.
    fileprivate var isUnresolved: Bool { status == .unknown || reason == .nameNotResolved }
}
