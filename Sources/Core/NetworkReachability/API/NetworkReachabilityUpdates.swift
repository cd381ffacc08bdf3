import LinuxSupport
import Netlink

/// The values of a listener as an asynchronous sequence: paths of a target, changes of many hosts, sets of namespaces. It
/// begins with the current value and continues with each change. For a slow reader it keeps only the newest value (of
/// each host). The sequence never throws, and ends only when its task is cancelled.
///
/// Each loop is an independent listener, which ends with the loop or its task. The manager may be released before.
struct NetworkReachabilityUpdates<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence never throws. Failures are reported as status unknown and in the log.
    typealias Failure = Never

    /// A listener. `take` removes and returns its next value. If it returns nil, the signal follows the next value.
    typealias Listener = (take: @Sendable () -> Element?, end: Cancellation)

    /// Starts a listener, which calls `signal` when it has a value.
    let listen: @Sendable (_ signal: @escaping @Sendable () -> Void) -> Listener

    /// Starts a listener. The first element is the current value.
    func makeAsyncIterator() -> Iterator {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (take, end) = listen { continuation.yield() }
        continuation.onTermination = { _ in end.cancel() }
        return Iterator(take: take, signals: signals.makeAsyncIterator())
    }

    /// Reads the changes of one loop.
    struct Iterator: AsyncIteratorProtocol {
        fileprivate let take: @Sendable () -> Element?
        fileprivate var signals: AsyncStream<Void>.Iterator

        /// Returns the next change, or nil if the task is cancelled.
        mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// Returns the next change, or nil if the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while !Task.isCancelled {
                if let element = take() { return element }
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
            return nil
        }
    }
}

extension NetworkReachabilityUpdates {
    /// Creates a sequence of the newest value.
    ///
    /// - Parameters:
    ///   - isSame: Returns whether the second element is not a change after the first. Skipped changes may have led back
    ///     to the last returned value.
    ///   - subscribe: Starts a subscription that passes its values to the closure.
    init(
        isSame: @escaping @Sendable (Element, Element) -> Bool,
        _ subscribe: @escaping @Sendable (@escaping @Sendable (Element) -> Void) -> Cancellation
    ) {
        listen = { signal in
            let state = Locked<(newest: Element?, last: Element?)>((nil, nil))
            let subscription = subscribe { element in
                state.withLock { $0.newest = element }
                signal()
            }
            let take: @Sendable () -> Element? = {
                state.withLock { state in
                    guard let newest = state.newest.take() else { return nil }
                    if let last = state.last, isSame(last, newest) { return nil }
                    state.last = newest
                    return newest
                }
            }
            return (take, subscription)
        }
    }
}

extension NetworkReachabilityManager {
    /// The current status, followed by every change.
    public var statuses: some AsyncSequence<NetworkReachabilityStatus, Never> & Sendable {
        statuses(settle: .immediate)
    }

    /// Returns a sequence of the current status, followed by the changes that satisfy `policy`.
    public func statuses(settle policy: SettlePolicy) -> some AsyncSequence<NetworkReachabilityStatus, Never> & Sendable
    {
        updates(.status, policy, \.status)
    }

    /// The current flags, followed by every change. The flags are nil while the status is unknown.
    public var flagChanges: some AsyncSequence<NetworkReachabilityFlags?, Never> & Sendable {
        flagChanges(settle: .immediate)
    }

    /// Returns a sequence of the current flags, followed by the changes that satisfy `policy`. The flags are nil while
    /// the status is unknown.
    public func flagChanges(
        settle policy: SettlePolicy
    ) -> some AsyncSequence<NetworkReachabilityFlags?, Never> & Sendable {
        updates(.flags, policy, \.flags)
    }

    /// The current path, followed by a new path whenever any part of it changes.
    public var paths: some AsyncSequence<NetworkPath, Never> & Sendable { paths(settle: .immediate) }

    /// Returns a sequence of the current path, followed by the changes that satisfy `policy`.
    public func paths(settle policy: SettlePolicy) -> some AsyncSequence<NetworkPath, Never> & Sendable {
        paths(for: .path, settle: policy)
    }

    /// Returns a sequence of the current path, followed by the changes of the parts contained in `interest` that
    /// satisfy `policy`.
    public func paths(
        for interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy = .immediate
    ) -> some AsyncSequence<NetworkPath, Never> & Sendable {
        // The generation also counts changes that a slow reader has skipped. A new generation alone is not a change.
        updates(interest, policy, \.self) { $0.isSame(as: $1) }
    }

    /// The paths of ``paths``, with the type of the sequence.
    var pathUpdates: NetworkReachabilityUpdates<NetworkPath> {
        updates(.path, .immediate, \.self) { $0.isSame(as: $1) }
    }

    private func updates<Element: Equatable & Sendable>(
        _ interest: NetworkReachabilityInterest,
        _ policy: SettlePolicy,
        _ element: any KeyPath<NetworkPath, Element> & Sendable,
        isSame: @escaping @Sendable (Element, Element) -> Bool = { $0 == $1 }
    ) -> NetworkReachabilityUpdates<Element> {
        let (record, nameWait) = (record, interest.isOfStatus ? options.nameResolutionWait : .zero)
        return NetworkReachabilityUpdates(isSame: isSame) { put in
            let subscription = Subscription(
                to: record,
                interest: interest,
                settle: policy,
                waitingForName: nameWait
            ) { change, subscription in
                subscription.call(since: change.noticed) { put(change.path[keyPath: element]) }
            }
            subscription.begin()
            return Cancellation { subscription.end() }
        }
    }
}
