import CLinux
import Dispatch
import Glibc

/// Sends datagrams and echoes and makes connections, any number at a time, on one thread with one `epoll(7)`, and says what came
/// back and from whom. Letting go of it ends the thread and cancels what is left.
///
/// A moment is one of CLOCK_MONOTONIC, which stands still while the machine sleeps. The thread keeps the network namespace alive that it
/// entered; a second thread, outside of that namespace, then tells the outcomes. Thread-safe. A task that is cancelled gets its outcome
/// at once, and leaves no descriptor behind.
package final class SocketEngine: Sendable {
    let inbox: EngineInbox

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - enter: moves the calling thread into the network namespace that the sockets are to be opened in; nil for that of the
    ///     process. If it throws, every request ends with its error.
    /// - Throws: where there is no descriptor, or no thread.
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

    /// Sends a datagram or an echo, and waits for what comes back.
    package func send(_ request: DatagramRequest) async -> DatagramOutcome {
        await perform { .datagram(request, $0) }
    }

    /// Tries to make a connection.
    package func connect(_ request: ConnectRequest) async -> ConnectOutcome {
        await perform { .connect(request, $0) }
    }

    /// Connects, sends something, and reads the answer.
    package func exchange(_ request: StreamRequest) async -> StreamOutcome {
        await perform { .stream(request, $0) }
    }

    /// Begins several jobs at once, for a caller that has no task for each. The callback of a job must not wait.
    ///
    /// - Returns: a number for each, to cancel it by; in their order.
    @discardableResult
    package func begin(_ jobs: [EngineJob]) -> Range<UInt64> {
        let numbers = inbox.nextFlights(jobs.count)
        if !inbox.add(zip(numbers, jobs).map { .start($0, $1) }) { for job in jobs { job.cancel() } }
        return numbers
    }

    /// Ends a job that was begun, if it is not over.
    package func cancel(_ number: UInt64) {
        _ = inbox.add(.cancel(number))
    }

    private func perform<Outcome: Sendable>(
        _ job: (@escaping @Sendable (Outcome) -> Void) -> EngineJob
    ) async -> Outcome {
        let number = inbox.nextFlights().lowerBound
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = job { continuation.resume(returning: $0) }
                guard inbox.add(.start(number, job)) else { return job.cancel() }
                // The handler may have run before there was anything to cancel.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }
}

/// The maximum number of concurrent operations of a `SocketEngine`. Further ones wait.
package struct EngineLimits: Hashable, Sendable {
    /// Sockets. By default a quarter of what the process may open (RLIMIT_NOFILE), and at most 512.
    package var descriptors: Int
    /// Echoes, which share sockets.
    package var echoes: Int

    package init(descriptors: Int? = nil, echoes: Int = 4096) {
        self.descriptors = max(1, descriptors ?? min(512, OpenFiles.limit / 4))
        self.echoes = min(max(1, echoes), 16_384)
    }
}

/// How callers speak to the thread of an engine. Thread-safe.
final class EngineInbox: Sendable {
    enum Command: Sendable {
        case start(UInt64, EngineJob)
        case cancel(UInt64)
    }

    private struct State {
        var commands: [Command] = []
        var lastFlight: UInt64 = 0
        var isClosed = false
    }

    let poller: Poller
    private let state = Locked(State())

    init() throws(SocketError) {
        poller = try Poller()
    }

    /// Numbers for new flights, none of them 0.
    func nextFlights(_ count: Int = 1) -> Range<UInt64> {
        state.withLock { state in
            let first = state.lastFlight + 1
            state.lastFlight += UInt64(count)
            return first..<(first + UInt64(count))
        }
    }

    /// True if the engine accepts the commands; false after it was closed.
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

    /// Lets the thread end.
    func close() {
        state.withLock { $0.isClosed = true }
        poller.wake()
    }

    /// The next commands; nil after the end.
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
/// A callback resumes a task or wakes a queue, and Dispatch may start a thread for it at once. A new thread begins in the namespace of the
/// thread that starts it, and the threads of Dispatch serve the whole program, which would then open sockets in the wrong network.
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

/// Jobs that wait for sockets, in the order in which they were added.
struct JobQueue {
    private var order: [UInt64] = []
    private var head = 0
    private var jobs: [UInt64: EngineJob] = [:]

    mutating func append(_ number: UInt64, _ job: EngineJob) {
        order.append(number)
        jobs[number] = job
    }

    /// Puts a job back that was taken out just now.
    mutating func putBack(_ number: UInt64, _ job: EngineJob) {
        head -= 1
        jobs[number] = job
    }

    /// The first job; nil when none waits.
    mutating func first() -> EngineJob? {
        while head < order.count {
            if let job = jobs[order[head]] { return job }
            head += 1
        }
        order = []
        head = 0
        return nil
    }

    /// Takes the first job out.
    mutating func popFirst() -> (number: UInt64, job: EngineJob)? {
        guard first() != nil, let job = jobs.removeValue(forKey: order[head]) else { return nil }
        head += 1
        return (order[head - 1], job)
    }

    /// Takes a job out, wherever it stands.
    mutating func remove(_ number: UInt64) -> EngineJob? {
        jobs.removeValue(forKey: number)
    }

    /// Takes all out.
    mutating func removeAll() -> [EngineJob] {
        defer { self = JobQueue() }
        return Array(jobs.values)
    }
}

/// A request and the callback for its outcome. The callback runs on the engine's thread, so it must not wait.
package enum EngineJob: Sendable {
    case datagram(DatagramRequest, @Sendable (DatagramOutcome) -> Void)
    case connect(ConnectRequest, @Sendable (ConnectOutcome) -> Void)
    case stream(StreamRequest, @Sendable (StreamOutcome) -> Void)

    /// Ends it before it began.
    func cancel() {
        switch self {
        case .datagram(_, let tell): tell(DatagramOutcome(end: .cancelled))
        case .connect(_, let tell): tell(ConnectOutcome(end: .cancelled))
        case .stream(_, let tell): tell(StreamOutcome(end: .cancelled))
        }
    }

    /// Ends it before anything could be sent.
    func refuse(_ error: SocketError) {
        switch self {
        case .datagram(_, let tell): tell(DatagramOutcome(end: .notSent(error)))
        case .connect(_, let tell): tell(ConnectOutcome(end: .notSent(error)))
        case .stream(_, let tell): tell(StreamOutcome(end: .notSent(error)))
        }
    }

    /// The ping socket of an echo; nil of anything else.
    var pingSocket: PingSocket.Key? {
        guard case .datagram(let request, _) = self, case .echo = request.content else { return nil }
        return PingSocket.Key(family: request.endpoint.family, settings: request.settings)
    }

    var isEcho: Bool { pingSocket != nil }
}

/// The descriptors of this process.
package enum OpenFiles {
    /// How many it may have, RLIMIT_NOFILE of `getrlimit(2)`.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }

    /// Whether this number of descriptors is available. It opens and closes them, because there is no other way to find out.
    package static func haveRoom(for count: Int) -> Bool {
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
