import Netlink

/// The changes of a target, or of the set of namespaces, as an asynchronous sequence: it begins with what is so now, goes on
/// with each change, and keeps only the newest for a reader that is slow. It never fails and never ends by itself.
///
/// Each loop over it is a subscription of its own, which ends with the loop or its task. The manager may be let go.
public struct NetworkReachabilityUpdates<Element: Equatable & Sendable>: AsyncSequence, Sendable {
    /// The sequence never fails: trouble is the status unknown, and in the log.
    public typealias Failure = Never

    private let subscribe: @Sendable (AsyncStream<Element>.Continuation) -> Cancellation

    init(_ subscribe: @escaping @Sendable (AsyncStream<Element>.Continuation) -> Cancellation) {
        self.subscribe = subscribe
    }

    /// Begins a subscription; its first element is what is so now.
    public func makeAsyncIterator() -> Iterator {
        // A late reader wants the truth, not the history.
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = subscribe(continuation)
        continuation.onTermination = { _ in subscription.cancel() }
        return Iterator(stream.makeAsyncIterator())
    }

    /// Reads one loop's changes.
    public struct Iterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<Element>.Iterator
        private var last: Element?

        init(_ stream: AsyncStream<Element>.Iterator) {
            self.stream = stream
        }

        /// The next change; nil when the task is cancelled. What was skipped over may have led back to where the reader was:
        /// that is no change.
        public mutating func next() async -> Element? {
            await next(isolation: #isolation)
        }

        /// The next change; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while let element = await stream.next(isolation: actor) {
                if element == last { continue }
                last = element
                return element
            }
            return nil
        }
    }
}

extension NetworkReachabilityManager {
    /// The status now and whenever it changes.
    public var statuses: NetworkReachabilityUpdates<NetworkReachabilityStatus> { statuses(settle: .immediate) }

    /// The status now, and its changes that last as `policy` wants it.
    public func statuses(settle policy: SettlePolicy) -> NetworkReachabilityUpdates<NetworkReachabilityStatus> {
        updates(.status, policy, \.status)
    }

    /// The flags now and whenever they change; nil while nothing is known.
    public var flagChanges: NetworkReachabilityUpdates<NetworkReachabilityFlags?> { flagChanges(settle: .immediate) }

    /// The flags now, and their changes that last as `policy` wants it; nil while nothing is known.
    public func flagChanges(settle policy: SettlePolicy) -> NetworkReachabilityUpdates<NetworkReachabilityFlags?> {
        updates(.flags, policy, \.flags)
    }

    /// The path now and whenever anything of it changes.
    public var paths: NetworkReachabilityUpdates<NetworkPath> { paths(settle: .immediate) }

    /// The path now, and its changes that last as `policy` wants it.
    public func paths(settle policy: SettlePolicy) -> NetworkReachabilityUpdates<NetworkPath> {
        updates(.path, policy, \.self)
    }

    private func updates<Element: Equatable & Sendable>(
        _ interest: NetworkReachabilityInterest,
        _ policy: SettlePolicy,
        _ element: any KeyPath<NetworkPath, Element> & Sendable
    ) -> NetworkReachabilityUpdates<Element> {
        let record = record
        let logger = options.logger
        return NetworkReachabilityUpdates { continuation in
            let subscription = Subscription(to: record, interest: interest, settle: policy) {
                change,
                subscription in
                logger?.log(change.path, of: record.target)
                subscription.call(since: change.noticed) { continuation.yield(change.path[keyPath: element]) }
            }
            subscription.begin()
            return Cancellation { subscription.end() }
        }
    }
}
