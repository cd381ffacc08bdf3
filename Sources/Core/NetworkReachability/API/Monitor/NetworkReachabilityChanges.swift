import LinuxSupport
import Netlink

/// What became of one of many targets.
public struct NetworkReachabilityChange: Hashable, Sendable {
    /// The host as it was given.
    public let host: String

    /// The path packets to it take now, or why there is none.
    public let path: NetworkPath

    /// Whether it can be reached now, and over what.
    public var status: NetworkReachabilityStatus { path.status }
}

extension NetworkReachabilityChange: CustomStringConvertible {
    /// For example `example.org: not reachable, no carrier, interface eth0`. What would steer a terminal is shown escaped.
    public var description: String { "\(host.printable): \(path)" }
}

/// The changes of many targets as an asynchronous sequence: it begins with what each of them is now, goes on with each
/// change, and keeps only the newest of each host for a reader that is slow. It never fails and never ends by itself.
///
/// Each loop over it is a listener of its own, which ends with the loop or its task.
struct NetworkReachabilityChanges: AsyncSequence, Sendable {
    /// A host and its path.
    typealias Element = NetworkReachabilityChange

    /// The sequence never fails: trouble is the status unknown, and in the log.
    typealias Failure = Never

    private let listen: @Sendable (_ signal: @escaping @Sendable () -> Void) -> ChangeListener

    init(_ listen: @escaping @Sendable (_ signal: @escaping @Sendable () -> Void) -> ChangeListener) {
        self.listen = listen
    }

    /// Begins to listen; its first elements are what is so now.
    func makeAsyncIterator() -> Iterator {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = listen { continuation.yield() }
        continuation.onTermination = { _ in listener.end() }
        return Iterator(listener, signals.makeAsyncIterator())
    }

    /// Reads one loop's changes.
    struct Iterator: AsyncIteratorProtocol {
        private let listener: ChangeListener
        private var signals: AsyncStream<Void>.Iterator

        init(_ listener: ChangeListener, _ signals: AsyncStream<Void>.Iterator) {
            self.listener = listener
            self.signals = signals
        }

        /// The next change; nil when the task is cancelled.
        mutating func next() async -> NetworkReachabilityChange? {
            await next(isolation: #isolation)
        }

        /// The next change; nil when the task is cancelled.
        mutating func next(isolation actor: isolated (any Actor)?) async -> NetworkReachabilityChange? {
            while !Task.isCancelled {
                var change: NetworkReachabilityChange?
                if listener.take({ change = $0 }) { return change }
                guard await signals.next(isolation: actor) != nil else { return nil }
            }
            return nil
        }
    }
}
