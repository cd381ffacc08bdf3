import CLinux
import Dispatch
import Glibc

/// An engine that sends datagrams and echoes and opens TCP connections, any number at the same time, on one thread with
/// one `epoll(7)`. It reports the answers, the errors and their senders. Releasing the engine ends the thread and
/// cancels the remaining requests.
///
/// All times are by CLOCK_MONOTONIC, which does not advance while the machine sleeps. The thread keeps the network
/// namespace alive that it has entered. A second thread outside that namespace then runs the callbacks. Thread-safe. A
/// cancelled task receives its outcome immediately and leaves no descriptor open.
package final class SocketEngine: Sendable {
    let inbox: EngineInbox

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - enter: Moves the calling thread into the network namespace of the sockets. If nil, the sockets are in the
    ///     namespace of the process. If it throws, every request ends with its error.
    /// - Throws: An error if no descriptor or thread is available.
    package init(
        limits: EngineLimits = .init(),
        entering enter: (@Sendable () throws(SocketError) -> Void)? = nil
    ) throws(SocketError) {
        let inbox = try EngineInbox()
        self.inbox = inbox
        var callbacks: CallbackThread?
        do throws(SystemError) {
            if enter != nil { callbacks = try CallbackThread() }
            try Thread.detach { [callbacks] in
                var obstacle: SocketError?
                do throws(SocketError) { try enter?() } catch { obstacle = error }
                EngineLoop(inbox, limits, obstacle: obstacle, callbacks: callbacks).run()
                callbacks?.close()
            }
        } catch {
            callbacks?.close()
            throw SocketError(.watch, error)
        }
    }

    deinit {
        inbox.close()
    }

    /// Sends datagrams or echoes, and returns the answers.
    package func send(_ request: DatagramRequest) async -> DatagramOutcome {
        await perform { .datagram(request, $0) }
    }

    /// Opens a TCP connection. For an exchange, sends bytes and returns the answer.
    package func connect(_ request: StreamRequest) async -> StreamOutcome {
        await perform { .stream(request, $0) }
    }

    /// Starts several jobs at the same time, without a task for each. The callback of a job must not block.
    ///
    /// - Returns: The numbers of the jobs, in their order, for cancellation.
    @discardableResult
    package func begin(_ jobs: [EngineJob]) -> Range<UInt64> {
        let numbers = inbox.nextOperations(jobs.count)
        if !inbox.add(zip(numbers, jobs).map { .start($0, $1) }) { for job in jobs { job.cancel() } }
        return numbers
    }

    /// Cancels a job. It has no effect after the end of the job.
    package func cancel(_ number: UInt64) {
        _ = inbox.add(.cancel(number))
    }

    private func perform<Outcome: Sendable>(
        _ job: (@escaping @Sendable (Outcome) -> Void) -> EngineJob
    ) async -> Outcome {
        let number = inbox.nextOperations().lowerBound
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = job { continuation.resume(returning: $0) }
                guard inbox.add(.start(number, job)) else { return job.cancel() }
                // The cancellation handler may have run before the job was added.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }
}

/// The maximum number of concurrent operations of a `SocketEngine`. Further operations wait.
package struct EngineLimits: Hashable, Sendable {
    /// The maximum number of sockets. The default is a quarter of the process's limit (RLIMIT_NOFILE), at most 512.
    package var descriptors: Int
    /// The maximum number of echoes, which share sockets.
    package var echoes: Int

    package init(descriptors: Int? = nil, echoes: Int = 4096) {
        self.descriptors = max(1, descriptors ?? min(512, OpenFiles.limit / 4))
        self.echoes = min(max(1, echoes), 16_384)
    }
}

/// The command queue between callers and the thread of an engine. Thread-safe.
final class EngineInbox: Sendable {
    enum Command: Sendable {
        case start(UInt64, EngineJob)
        case cancel(UInt64)
    }

    private struct State {
        var commands: [Command] = []
        var lastOperation: UInt64 = 0
        var isClosed = false
    }

    let poller: Poller
    private let state = Locked(State())

    init() throws(SocketError) {
        poller = try Poller()
    }

    /// Returns numbers for new requests. None of them is 0.
    func nextOperations(_ count: Int = 1) -> Range<UInt64> {
        state.withLock { state in
            let first = state.lastOperation + 1
            state.lastOperation += UInt64(count)
            return first..<(first + UInt64(count))
        }
    }

    /// Adds commands. Returns false if the engine is closed.
    func add(_ commands: Command...) -> Bool { add(commands) }

    func add(_ commands: [Command]) -> Bool {
        let (isTaken, isFirst) = state.withLock { state in
            if state.isClosed { return (false, false) }
            let isFirst = state.commands.isEmpty
            state.commands += commands
            return (true, isFirst)
        }
        if isFirst { poller.wake() }
        return isTaken
    }

    /// Ends the thread.
    func close() {
        state.withLock { $0.isClosed = true }
        poller.wake()
    }

    /// Returns and removes the pending commands; nil after the end.
    func take() -> [Command]? {
        state.withLock { state in
            let commands = state.commands
            state.commands = []
            return state.isClosed && commands.isEmpty ? nil : commands
        }
    }
}

/// A thread that runs callbacks for an engine whose own thread has entered another network namespace. Thread-safe.
///
/// A callback resumes a task or wakes a queue, and Dispatch may start a thread for it immediately. A new thread starts
/// in the namespace of the thread that creates it. Dispatch threads serve the whole program, which would then open
/// sockets in the wrong namespace.
///
/// Source: `clone(2)`, `network_namespaces(7)`.
final class CallbackThread: Sendable {
    private struct State {
        var callbacks: [@Sendable () -> Void] = []
        var isClosed = false
    }

    private let state = Locked(State())
    private let signal = DispatchSemaphore(value: 0)

    /// Starts the thread in the namespace of the calling thread.
    init() throws(SystemError) {
        try Thread.detach { [self] in
            while let callbacks = next() { for callback in callbacks { callback() } }
        }
    }

    func run(_ callbacks: [@Sendable () -> Void]) {
        state.withLock { $0.callbacks += callbacks }
        signal.signal()
    }

    /// Ends the thread after all callbacks have run.
    func close() {
        state.withLock { $0.isClosed = true }
        signal.signal()
    }

    private func next() -> [@Sendable () -> Void]? {
        signal.wait()
        return state.withLock { state in
            defer { state.callbacks = [] }
            return state.isClosed && state.callbacks.isEmpty ? nil : state.callbacks
        }
    }
}

/// A queue of jobs that wait for sockets, in the order of addition.
struct JobQueue {
    private var order: [UInt64] = []
    private var head = 0
    private var jobs: [UInt64: EngineJob] = [:]

    mutating func append(_ number: UInt64, _ job: EngineJob) {
        order.append(number)
        jobs[number] = job
    }

    /// Puts back the job that `popFirst()` has just returned.
    mutating func putBack(_ number: UInt64, _ job: EngineJob) {
        head -= 1
        jobs[number] = job
    }

    /// Returns the first job; nil if the queue is empty.
    mutating func first() -> EngineJob? {
        while head < order.count {
            if let job = jobs[order[head]] { return job }
            head += 1
        }
        order = []
        head = 0
        return nil
    }

    /// Returns and removes the first job.
    mutating func popFirst() -> (number: UInt64, job: EngineJob)? {
        guard first() != nil, let job = jobs.removeValue(forKey: order[head]) else { return nil }
        head += 1
        return (order[head - 1], job)
    }

    /// Removes a job at any position.
    mutating func remove(_ number: UInt64) -> EngineJob? {
        jobs.removeValue(forKey: number)
    }

    /// Returns and removes all jobs.
    mutating func removeAll() -> [EngineJob] {
        defer { self = JobQueue() }
        return Array(jobs.values)
    }
}

/// A request and its callback. The callback runs on the engine's thread, or on its callback thread, and must not block.
package enum EngineJob: Sendable {
    case datagram(DatagramRequest, @Sendable (DatagramOutcome) -> Void)
    case stream(StreamRequest, @Sendable (StreamOutcome) -> Void)

    /// Reports a cancellation before the start.
    func cancel() {
        switch self {
        case .datagram(_, let completion): completion(DatagramOutcome(end: .cancelled))
        case .stream(_, let completion): completion(StreamOutcome(end: .cancelled))
        }
    }

    /// Reports an error before anything was sent.
    func refuse(_ error: SocketError) {
        switch self {
        case .datagram(_, let completion): completion(DatagramOutcome(end: .notSent(error)))
        case .stream(_, let completion): completion(StreamOutcome(end: .notSent(error)))
        }
    }

    /// The key of the ping socket for an echo; nil for any other job.
    var pingSocket: PingSocket.Key? {
        guard case .datagram(let request, _) = self, case .echo = request.content else { return nil }
        return PingSocket.Key(family: request.endpoint.family, settings: request.settings)
    }

    var isEcho: Bool { pingSocket != nil }
}

/// The open descriptors of this process.
package enum OpenFiles {
    private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    private static var limits: rlimit? {
        var limits = rlimit()
        return getrlimit(resource, &limits) == 0 ? limits : nil
    }

    /// The maximum number of descriptors, RLIMIT_NOFILE of `getrlimit(2)`.
    package static var limit: Int { limits.map { Int(clamping: $0.rlim_cur) } ?? 1024 }

    /// Raises the limit to its maximum, at most 65,536. Returns the new limit.
    ///
    /// C counterpart: `setrlimit(2)`.
    @discardableResult
    package static func raiseLimit() -> Int {
        guard var limits else { return limit }
        limits.rlim_cur = min(limits.rlim_max, 65_536)
        setrlimit(resource, &limits)
        return Int(clamping: limits.rlim_cur)
    }

    /// Returns whether this number of descriptors is available. It opens and closes descriptors, because there is no
    /// other way to find out.
    package static func haveDescriptors(for count: Int) -> Bool {
        var taken: [CInt] = []
        defer { for number in taken { close(number) } }
        for _ in 0..<count {
            let number = eventfd(0, CInt(EFD_CLOEXEC))
            guard number >= 0 else { return false }
            taken.append(number)
        }
        return true
    }
}
