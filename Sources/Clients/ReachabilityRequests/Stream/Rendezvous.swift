import LinuxSupport

/// Hands elements over, one at a time: who gives one waits until the one before it was taken, so nothing piles up.
///
/// One task gives, and one takes.
final class Rendezvous<Element: Sendable>: Sendable {
    private enum State {
        case idle
        /// It waits to be taken.
        case offered(Element, CheckedContinuation<Bool, Never>)
        /// It is waited for.
        case wanted(CheckedContinuation<Element?, Never>)
        case over
    }

    private let state = Locked(State.idle)

    /// Gives an element, and waits until it is taken.
    ///
    /// - Returns: Whether more is wanted.
    func give(_ element: Element) async -> Bool {
        await withCheckedContinuation { giver in
            let (taker, isRefused): (CheckedContinuation<Element?, Never>?, Bool) = state.withLock { state in
                switch state {
                case .wanted(let taker):
                    state = .idle
                    return (taker, false)
                case .idle:
                    state = .offered(element, giver)
                    return (nil, false)
                case .offered, .over: return (nil, true)
                }
            }
            taker?.resume(returning: element)
            if taker != nil || isRefused { giver.resume(returning: !isRefused) }
        }
    }

    /// The next element; nil at the end.
    func take() async -> Element? {
        await withCheckedContinuation { taker in
            let (element, giver, isRefused): (Element?, CheckedContinuation<Bool, Never>?, Bool) = state.withLock {
                state in
                switch state {
                case .offered(let element, let giver):
                    state = .idle
                    return (element, giver, false)
                case .idle:
                    state = .wanted(taker)
                    return (nil, nil, false)
                case .wanted, .over: return (nil, nil, true)
                }
            }
            giver?.resume(returning: true)
            if giver != nil || isRefused { taker.resume(returning: element) }
        }
    }

    /// Nothing comes any more; what was offered is let go of.
    func end() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch before {
        case .offered(_, let giver): giver.resume(returning: false)
        case .wanted(let taker): taker.resume(returning: nil)
        case .idle, .over: break
        }
    }
}
