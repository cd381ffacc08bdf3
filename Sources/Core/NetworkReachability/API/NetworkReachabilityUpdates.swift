import LinuxSupport
import Netlink

/// The changes of a target, or of the set of namespaces, as an asynchronous sequence: it begins with what is so now, goes on
/// with each change, and keeps only the newest for a reader that is slow. It never fails and never ends by itself.
///
/// Each loop over it is a subscription of its own, which ends with the loop or its task. The manager may be let go.
struct NetworkReachabilityUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails: trouble is the status unknown, and in the log.
    typealias Failure = Never

    private let isSame: @Sendable (Element, Element) -> Bool
    private let subscribe: @Sendable (AsyncStream<Element>.Continuation) -> Cancellation

    /// - Parameter isSame: Returns whether the second of two elements is not a change.
    init(
        isSame: @escaping @Sendable (Element, Element) -> Bool = { $0 == $1 },
        _ subscribe: @escaping @Sendable (AsyncStream<Element>.Continuation) -> Cancellation
    ) {
        self.isSame = isSame
        self.subscribe = subscribe
    }

    /// Begins a subscription; its first element is what is so now.
    func makeAsyncIterator() -> Iterator {
        // A late reader wants the truth, not the history.
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = subscribe(continuation)
        continuation.onTermination = { _ in subscription.cancel() }
        return Iterator(stream.makeAsyncIterator(), isSame)
    }

    /// Reads one loop's changes.
    struct Iterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<Element>.Iterator
        private let isSame: @Sendable (Element, Element) -> Bool
        private var last: Element?

        init(_ stream: AsyncStream<Element>.Iterator, _ isSame: @escaping @Sendable (Element, Element) -> Bool) {
            self.stream = stream
            self.isSame = isSame
        }

        /// The next change; nil when the task is cancelled. What was skipped over may have led back to where the reader was:
        /// that is no change.
        mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// The next change; nil when the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while let element = await stream.next(isolation: actor) {
                if let last, isSame(last, element) { continue }
                last = element
                return element
            }
            return nil
        }
    }
}

extension NetworkReachabilityManager {
    /// The status now and whenever it changes.
    public var statuses: some AsyncSequence<NetworkReachabilityStatus, Never> & Sendable {
        statuses(settle: .immediate)
    }

    /// The status now, and its changes that last as `policy` wants it.
    public func statuses(settle policy: SettlePolicy) -> some AsyncSequence<NetworkReachabilityStatus, Never> & Sendable
    {
        updates(.status, policy, \.status)
    }

    /// The flags now and whenever they change; nil while nothing is known.
    public var flagChanges: some AsyncSequence<NetworkReachabilityFlags?, Never> & Sendable {
        flagChanges(settle: .immediate)
    }

    /// The flags now, and their changes that last as `policy` wants it; nil while nothing is known.
    public func flagChanges(
        settle policy: SettlePolicy
    ) -> some AsyncSequence<NetworkReachabilityFlags?, Never> & Sendable {
        updates(.flags, policy, \.flags)
    }

    /// The path now and whenever anything of it changes.
    public var paths: some AsyncSequence<NetworkPath, Never> & Sendable { paths(settle: .immediate) }

    /// The path now, and its changes that last as `policy` wants it.
    public func paths(settle policy: SettlePolicy) -> some AsyncSequence<NetworkPath, Never> & Sendable {
        paths(for: .path, settle: policy)
    }

    /// The path now, and its changes that count for `interest` and last as `policy` wants it.
    public func paths(
        for interest: NetworkReachabilityInterest,
        settle policy: SettlePolicy = .immediate
    ) -> some AsyncSequence<NetworkPath, Never> & Sendable {
        // The generation counts what a slow reader has skipped, which alone is no other path.
        updates(interest, policy, \.self) { $0.isSame(as: $1) }
    }

    private func updates<Element: Equatable & Sendable>(
        _ interest: NetworkReachabilityInterest,
        _ policy: SettlePolicy,
        _ element: any KeyPath<NetworkPath, Element> & Sendable,
        isSame: @escaping @Sendable (Element, Element) -> Bool = { $0 == $1 }
    ) -> NetworkReachabilityUpdates<Element> {
        let record = record
        let nameWait = interest.isOfStatus ? options.nameResolutionWait : .zero
        return NetworkReachabilityUpdates(isSame: isSame) { continuation in
            let subscription = Subscription(
                to: record,
                interest: interest,
                settle: policy,
                waitingForName: nameWait
            ) { change, subscription in
                subscription.call(since: change.noticed) { continuation.yield(change.path[keyPath: element]) }
            }
            subscription.begin()
            return Cancellation { subscription.end() }
        }
    }
}
