package import CLinux
import Dispatch
import Glibc

/// The system resolver. It blocks, so call it on a separate thread.
///
/// C counterpart: `getaddrinfo(3)`, `gai.conf(5)` for the order.
package enum NameLookup {
    /// The reason why a name has no address.
    package enum Failure: Error, Hashable, Sendable {
        /// The name does not exist (EAI_NONAME).
        case noSuchName
        /// The name has no address (EAI_NODATA). The C library also reports some other errors in this way.
        case noAddress
        /// The name service could not be queried or gave up. Another query may succeed. The text is that of the system.
        case unavailable(String)

        /// True if the name service reports that there is no address.
        package var isDenial: Bool { self == .noSuchName || self == .noAddress }
    }

    /// An address of a name. `zone` is the interface index of a link-local IPv6 address.
    package struct Address: Hashable, Sendable {
        package let address: WireAddress
        package let zone: UInt32?

        package init(_ address: WireAddress, zone: UInt32? = nil) {
            self.address = address
            self.zone = zone
        }
    }

    /// Returns the addresses of `name`, in the order in which connections should try them (RFC 6724).
    ///
    /// - Parameter namespace: The network namespace of the query, with its own files of `/etc/netns`. The calling
    ///   thread must end afterwards.
    package static func addresses(
        of name: String,
        inside namespace: NamespaceReference? = nil
    ) throws(Failure) -> [Address] {
        if let namespace {
            do throws(NamespaceError) {
                try NamespaceEntry.enter(namespace)
            } catch {
                throw .unavailable(error.description)
            }
            do throws(SystemError) {
                try NamespaceFiles(of: namespace)?.show()
            } catch {
                throw .unavailable("cannot use the files in /etc/netns: \(error)")
            }
        }
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &list)
        switch code {
        case 0: break
        case EAI_NONAME: throw .noSuchName
        case -5 /* EAI_NODATA, a GNU extension */: throw .noAddress
        case EAI_SYSTEM: throw .unavailable(SystemError.current.description)
        default: throw .unavailable(String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [Address] = []
        var next = list
        while let entry = next {
            let bytes = UnsafeRawBufferPointer(start: entry.pointee.ai_addr, count: Int(entry.pointee.ai_addrlen))
            if let address = Address(bytes), !addresses.contains(address) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}

extension NameLookup.Address {
    /// Reads an IPv4 or IPv6 socket address. Returns nil for any other family.
    init?(_ socketAddress: UnsafeRawBufferPointer) {
        guard let endpoint = SocketEndpoint(socketAddress) else { return nil }
        self.init(endpoint.address, zone: endpoint.interfaceIndex == 0 ? nil : endpoint.interfaceIndex)
    }

    /// Reads an IPv4 or IPv6 socket address. Returns nil for any other family.
    package init?(_ storage: sockaddr_storage) {
        guard let address = withUnsafeBytes(of: storage, { Self($0) }) else { return nil }
        self = address
    }
}

/// A resolver on separate threads that answers each query within a bounded time.
///
/// Completion handlers run on these threads. They run on a Dispatch queue if the query was abandoned, and on the
/// calling thread if it was refused. No lock is held during the call.
/// held.
package final class LookupThreads: Sendable {
    package typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

    private struct State {
        var queue: LookupQueue
        var timer: Cancellation?
        var timerIsDue: Duration?
    }

    /// The queue is not a global queue, because Dispatch wakes the process every second after the first use of one
    /// (``TaskQueue``).
    private static let timerQueue = DispatchQueue(label: "LinuxSupport.lookups")

    private let state: Locked<State>
    private let lookup: @Sendable (String) -> LookupQueue.Answer
    private let startThread: Start

    /// - Parameters:
    ///   - startThread: Starts a detached thread.
    ///   - lookup: Resolves a name, and blocks.
    package init(
        limits: LookupQueue.Limits = LookupQueue.Limits(),
        startThread: @escaping Start = Thread.detach,
        lookup: @escaping @Sendable (String) -> LookupQueue.Answer
    ) {
        state = Locked(State(queue: LookupQueue(limits: limits)))
        self.startThread = startThread
        self.lookup = lookup
    }

    /// Resolves `name`, and calls `completion` exactly once.
    package func ask(for name: String, _ completion: @escaping @Sendable (LookupQueue.Answer) -> Void) {
        perform { queue, now in queue.ask(LookupQueue.Lookup(name: name, completion: completion), at: now) }
    }

    /// - Parameter isWorker: True if the calling thread is a free resolver thread, which takes the first query itself.
    /// - Returns: The query that the calling thread has to perform; nil if it has none.
    @discardableResult
    private func perform(
        isWorker: Bool = false,
        _ change: @Sendable (inout LookupQueue, _ now: Duration) -> [LookupQueue.Action]
    ) -> LookupQueue.Query? {
        let now = SystemClock.monotonic
        let actions = state.withLock { state in
            let actions = change(&state.queue, now)
            setTimer(in: &state, now)
            return actions
        }
        var own: LookupQueue.Query?
        for action in actions {
            switch action {
            case .start(let query): if isWorker, own == nil { own = query } else { start(query) }
            case .complete(let lookup, let answer): lookup.completion(answer)
            }
        }
        return own
    }

    private func start(_ query: LookupQueue.Query) {
        do throws(SystemError) {
            try startThread { [self] in work(on: query) }
        } catch {
            perform { queue, _ in queue.cannotStart(query, because: error) }
        }
    }

    /// Performs queries until none is left. The thread then ends.
    private func work(on first: LookupQueue.Query) {
        var next: LookupQueue.Query? = first
        while let query = next {
            let answer = lookup(query.name)
            next = perform(isWorker: true) { queue, now in queue.finish(query, with: answer, at: now) }
        }
    }

    /// Sets the only timer, or stops it if no query is running.
    private func setTimer(in state: inout State, _ now: Duration) {
        let due = state.queue.nextAdvance(after: now)
        guard due != state.timerIsDue else { return }
        state.timer?.cancel()
        state.timerIsDue = due
        state.timer = due.map { due in
            DispatchTimer.schedule(after: due - now, on: Self.timerQueue) { [self] in
                // The timer retains this object, so the object must release the timer when it has fired.
                let timer = self.state.withLock { state in
                    defer { (state.timer, state.timerIsDue) = (nil, nil) }
                    return state.timer
                }
                timer?.cancel()
                perform { queue, now in queue.advance(to: now) }
            }
        }
    }
}

/// The pending, running and abandoned queries to the name service. A value that returns actions, and performs none.
///
/// The C library may block for any time, and a thread inside it cannot be stopped. Therefore other queries may pass a
/// slow query. A query that takes too long is answered with an error, and its thread is left running until it returns.
package struct LookupQueue {
    package typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    package struct Limits: Sendable {
        /// The maximum number of concurrent queries, apart from slow ones.
        package var running = 4
        /// The time after which a query counts as slow.
        package var patience = Duration.seconds(2)
        /// The time after which a query is abandoned.
        package var deadline = Duration.seconds(30)
        /// The maximum number of threads for queries that are slow or abandoned.
        package var stuck = 16
        /// The maximum number of abandoned queries for one name. More would not help the name, and would displace other
        /// names.
        package var stuckWithOneName = 2

        package init() {}
    }

    package struct Lookup: Sendable {
        package let name: String
        package let completion: @Sendable (Answer) -> Void

        package init(name: String, completion: @escaping @Sendable (Answer) -> Void) {
            (self.name, self.completion) = (name, completion)
        }
    }

    /// A query in progress. The number distinguishes it from others for the same name.
    package struct Query: Sendable {
        fileprivate let number: UInt64
        package let name: String
    }

    package enum Action: Sendable {
        /// Perform the query on a free thread, and report ``finish(_:with:at:)`` or ``cannotStart(_:because:)``.
        case start(Query)
        /// Call the completion handler.
        case complete(Lookup, Answer)
    }

    private struct Running {
        let lookup: Lookup
        let since: Duration
    }

    private let limits: Limits
    private var waiting: ArraySlice<Lookup> = []
    private var running: [UInt64: Running] = [:]
    /// The names of the abandoned queries whose threads have not returned.
    private var stuck: [UInt64: String] = [:]
    private var started: UInt64 = 0

    package init(limits: Limits) {
        self.limits = limits
    }

    package mutating func ask(_ lookup: Lookup, at now: Duration) -> [Action] {
        if let refusal = refusal(of: lookup) { return [refusal] }
        waiting.append(lookup)
        return startWaiting(at: now)
    }

    /// Records the answer of the C library. For an abandoned query it only frees the thread.
    package mutating func finish(_ query: Query, with answer: Answer, at now: Duration) -> [Action] {
        stuck[query.number] = nil
        let lookup = running.removeValue(forKey: query.number)?.lookup
        return (lookup.map { [.complete($0, answer)] } ?? []) + startWaiting(at: now)
    }

    /// Records that no thread could be started. The query waits for a running thread. If no thread is running, it
    /// fails.
    package mutating func cannotStart(_ query: Query, because cause: SystemError) -> [Action] {
        guard let lookup = running.removeValue(forKey: query.number)?.lookup else { return [] }
        waiting.insert(lookup, at: waiting.startIndex)
        guard running.isEmpty else { return [] }
        return refuseWaiting { "cannot start a thread to resolve \($0): \(cause)" }
    }

    /// Abandons queries that have run for too long, and starts queries that waited for them.
    package mutating func advance(to now: Duration) -> [Action] {
        var actions: [Action] = []
        for (number, entry) in running where now - entry.since >= limits.deadline {
            running[number] = nil
            stuck[number] = entry.lookup.name
            let limit = "\(limits.deadline.components.seconds) s"
            let cause = "the name service has not answered \(entry.lookup.name) within \(limit)"
            actions.append(.complete(entry.lookup, .failure(.unavailable(cause))))
        }
        return actions + startWaiting(at: now)
    }

    /// Returns the time of the next call of ``advance(to:)``; nil if no query is running.
    package func nextAdvance(after now: Duration) -> Duration? {
        let ends = running.values.map { $0.since + limits.deadline }
        let patience = waiting.isEmpty ? [] : running.values.map { $0.since + limits.patience }.filter { $0 > now }
        return (ends + patience).min()
    }

    private mutating func startWaiting(at now: Duration) -> [Action] {
        if stuck.count >= limits.stuck { return refuseWaiting(Self.allThreadsBlocked) }
        var actions: [Action] = []
        while hasRoom(at: now), let lookup = waiting.popFirst() {
            if let refusal = refusal(of: lookup) {
                actions.append(refusal)
                continue
            }
            started += 1
            running[started] = Running(lookup: lookup, since: now)
            actions.append(.start(Query(number: started, name: lookup.name)))
        }
        // A slice retains the storage of removed elements.
        if waiting.isEmpty { waiting = [] }
        return actions
    }

    private func hasRoom(at now: Duration) -> Bool {
        let slow = running.values.count { now - $0.since >= limits.patience }
        return running.count - slow < limits.running && running.count + stuck.count < limits.running + limits.stuck
    }

    private func refusal(of lookup: Lookup) -> Action? {
        let cause: (String) -> String
        if stuck.count >= limits.stuck {
            cause = Self.allThreadsBlocked
        } else if stuck.values.count(where: { $0 == lookup.name }) >= limits.stuckWithOneName {
            cause = { "earlier queries to the name service for \($0) have not returned" }
        } else {
            return nil
        }
        return .complete(lookup, .failure(.unavailable(cause(lookup.name))))
    }

    private static func allThreadsBlocked(_ name: String) -> String {
        "too many queries to the name service have not returned; \(name) is not resolved"
    }

    private mutating func refuseWaiting(_ cause: (String) -> String) -> [Action] {
        defer { waiting = [] }
        return waiting.map { .complete($0, .failure(.unavailable(cause($0.name)))) }
    }
}
