import LinuxSupport
import Netlink

/// The changes of a target, or of the set of namespaces, as an asynchronous sequence. It begins with the current value
/// and continues with each change. For a slow reader it keeps only the newest value. The sequence never throws, and
/// ends only when its task is cancelled.
///
/// Each loop is an independent subscription, which ends with the loop or its task. The manager may be released before.
struct NetworkReachabilityUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The sequence never throws. Failures are reported as status unknown and in the log.
    typealias Failure = Never

    private let isSame: @Sendable (Element, Element) -> Bool
    private let subscribe: @Sendable (AsyncStream<Element>.Continuation) -> Cancellation

    /// Creates a sequence.
    ///
    /// - Parameters:
    ///   - isSame: Returns whether the second element is not a change after the first.
    ///   - subscribe: Starts a subscription that yields its values to the continuation.
    init(
        isSame: @escaping @Sendable (Element, Element) -> Bool = { $0 == $1 },
        _ subscribe: @escaping @Sendable (AsyncStream<Element>.Continuation) -> Cancellation
    ) {
        self.isSame = isSame
        self.subscribe = subscribe
    }

    /// Starts a subscription. The first element is the current value.
    func makeAsyncIterator() -> Iterator {
        // A slow reader needs the current value, not the history.
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = subscribe(continuation)
        continuation.onTermination = { _ in subscription.cancel() }
        return Iterator(stream.makeAsyncIterator(), isSame)
    }

    /// Reads the changes of one loop.
    struct Iterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<Element>.Iterator
        private let isSame: @Sendable (Element, Element) -> Bool
        private var last: Element?

        init(_ stream: AsyncStream<Element>.Iterator, _ isSame: @escaping @Sendable (Element, Element) -> Bool) {
            self.stream = stream
            self.isSame = isSame
        }

        /// Returns the next change, or nil if the task is cancelled. If skipped changes led back to the last returned
        /// value, there is no change to return.
        mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// Returns the next change, or nil if the task is cancelled.
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
