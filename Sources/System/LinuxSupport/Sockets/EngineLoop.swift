import CLinux
import Glibc

/// The thread of an engine, with all its sockets and requests. Not thread-safe.
final class EngineLoop {
    /// A request in progress, and the time of its next action.
    private struct Entry {
        let operation: any SocketOperation
        var moment: Duration?
    }

    /// The bit of the tokens of ping sockets. The tokens of requests are their numbers, without this bit.
    private static let pingTokens: UInt64 = 1 << 63

    let inbox: EngineInbox
    let buffer = MessageBuffer()
    /// The time of the current turn, by CLOCK_MONOTONIC.
    private(set) var now = SystemClock.monotonic
    private let limits: EngineLimits
    /// The error that prevents all work, for example of entering the namespace; nil if there is no such error.
    private let obstacle: SocketError?
    /// The thread that runs callbacks if this thread has entered another namespace.
    private let callbacks: CallbackThread?
    private var operations: [UInt64: Entry] = [:]
    private var deadlines = DeadlineHeap()
    /// The requests for which something has arrived.
    private var touched: [UInt64] = []
    /// The callbacks of requests that have ended.
    private var finished: [@Sendable () -> Void] = []
    /// The jobs that wait for a descriptor, and the echoes that wait for their turn.
    private var sockets = JobQueue()
    private var echoes = JobQueue()
    private var echoCount = 0
    private var pingSockets: [PingSocket.Key: PingSocket] = [:]
    private var pingTokens: [UInt64: PingSocket] = [:]
    private var lastPingToken = EngineLoop.pingTokens
    /// The maximum number of sockets, reduced while the system has no free descriptors, because other code uses
    /// descriptors too.
    private var room: Int

    init(_ inbox: EngineInbox, _ limits: EngineLimits, obstacle: SocketError?, callbacks: CallbackThread?) {
        self.inbox = inbox
        self.limits = limits
        self.obstacle = obstacle
        self.callbacks = callbacks
        room = limits.descriptors
    }

    /// Runs until the inbox is closed. It then cancels the remaining requests.
    func run() {
        while true {
            let ready = inbox.poller.wait(atMost: patience)
            now = SystemClock.monotonic
            for event in ready { receive(event.token, event.readiness) }
            guard let commands = inbox.take() else { break }
            for command in commands { perform(command) }
            while let (number, moment) = deadlines.popDue(at: now) {
                if operations[number]?.moment == moment { advance(number) }
            }
            startWaiting()
            flush()
            runCompletions()
        }
        for job in sockets.removeAll() + echoes.removeAll() { finish(job.cancel) }
        for number in Array(operations.keys) { cancel(number) }
        runCompletions()
    }

    /// Adds a callback to run at the end of the turn, after the socket is closed.
    func finish(_ completion: @escaping @Sendable () -> Void) {
        finished.append(completion)
    }

    private func runCompletions() {
        guard !finished.isEmpty else { return }
        if let callbacks {
            callbacks.run(finished)
        } else {
            for completion in finished { completion() }
        }
        finished.removeAll(keepingCapacity: true)
    }

    /// The time until the next action without an event; nil for no limit.
    private var patience: Duration? {
        if canStart { return .zero }
        return deadlines.next.map { max(.zero, $0 - SystemClock.monotonic) }
    }

    private func perform(_ command: EngineInbox.Command) {
        switch command {
        case .cancel(let number): cancel(number)
        case .start(let number, let job):
            if let obstacle { return finish { job.refuse(obstacle) } }
            job.isEcho ? echoes.append(number, job) : sockets.append(number, job)
        }
    }

    /// Sends the queued echoes as far as the sockets accept them.
    private func flush() {
        for socket in Array(pingSockets.values) { socket.flush(self) }
        advanceTouched()
    }

    private func receive(_ token: UInt64, _ readiness: Readiness) {
        if let entry = operations[token] {
            entry.operation.receive(readiness, self)
            advance(token)
        } else if let socket = pingTokens[token] {
            if readiness.contains(.writable) { socket.resume(self) }
            socket.receive(self)
            advanceTouched()
        }
    }

    /// Records that something has arrived for a request.
    func touch(_ number: UInt64) {
        touched.append(number)
    }

    private func advanceTouched() {
        while !touched.isEmpty {
            let numbers = touched
            touched = []
            for number in numbers { advance(number) }
        }
    }

    private func advance(_ number: UInt64) {
        guard let entry = operations[number] else { return }
        guard let moment = entry.operation.advance(self) else { return remove(number) }
        guard moment != entry.moment else { return }
        operations[number]?.moment = moment
        deadlines.insert(moment, for: number)
    }

    private func cancel(_ number: UInt64) {
        if let job = sockets.remove(number) ?? echoes.remove(number) { finish(job.cancel) }
        guard let entry = operations[number] else { return }
        entry.operation.cancel(self)
        remove(number)
    }

    private func remove(_ number: UInt64) {
        if operations.removeValue(forKey: number)?.operation is EchoOperation { echoCount -= 1 }
    }

    /// Closes a ping socket after its last echo has ended.
    func close(_ socket: PingSocket) {
        pingSockets[socket.key] = nil
        pingTokens[socket.token] = nil
    }
}

// MARK: - Starting

extension EngineLoop {
    /// True if a waiting job can start. Space may have become free while other echoes were sent.
    private var canStart: Bool {
        sockets.first() != nil && hasDescriptor || echoes.first().map(hasRoom) == true
    }

    private func hasRoom(for echo: EngineJob) -> Bool {
        guard echoCount < limits.echoes, let key = echo.pingSocket else { return false }
        return hasDescriptor || pingSockets[key] != nil
    }

    private var hasDescriptor: Bool { socketCount < room }

    private var socketCount: Int { operations.count - echoCount + pingSockets.count }

    /// Starts waiting jobs within the limits.
    private func startWaiting() {
        while hasDescriptor, let (number, job) = sockets.popFirst() { start(number, job) }
        while let echo = echoes.first(), hasRoom(for: echo), let (number, job) = echoes.popFirst() {
            start(number, job)
        }
    }

    private func start(_ number: UInt64, _ job: EngineJob) {
        do throws(SocketError) {
            operations[number] = Entry(operation: try operation(number, job), moment: nil)
            if job.isEcho { echoCount += 1 }
            advance(number)
            room = min(limits.descriptors, room + 1)
        } catch {
            // If the engine has no socket open, no descriptor will become free here, so the job fails.
            guard error.kind == .noDescriptors, socketCount > 0 else { return finish { job.refuse(error) } }
            room = socketCount
            job.isEcho ? echoes.putBack(number, job) : sockets.putBack(number, job)
        }
    }

    private func operation(_ number: UInt64, _ job: EngineJob) throws(SocketError) -> any SocketOperation {
        switch job {
        case .stream(let request, let completion):
            let socket = try NetworkSocket.open(.tcp, request.endpoint.family, request.settings)
            if let retries = request.retries { try socket.setSynRetries(retries) }
            // With delayed acknowledgements a short request and answer take six packets instead of eight.
            if request.sendsFirst { socket.delayAcknowledgements() }
            try inbox.poller.add(socket, .writable, token: number)
            return StreamOperation(number, request, on: socket, self, completion)
        case .datagram(let request, let completion):
            switch request.content {
            case .payload(let payload):
                let socket = try NetworkSocket.open(.udp, request.endpoint.family, request.settings)
                try socket.connect(to: request.endpoint)
                try inbox.poller.add(socket, .readable, token: number)
                return DatagramOperation(request, payload, on: socket, self, completion)
            case .echo(let size):
                let socket = try pingSocket(PingSocket.Key(family: request.endpoint.family, settings: request.settings))
                let operation = EchoOperation(number, request, size: size, on: socket, self, completion)
                socket.add(operation)
                return operation
            }
        }
    }

    private func pingSocket(_ key: PingSocket.Key) throws(SocketError) -> PingSocket {
        if let socket = pingSockets[key] { return socket }
        let socket = try NetworkSocket.open(.ping, key.family, key.settings)
        lastPingToken += 1
        try inbox.poller.add(socket, .readable, token: lastPingToken)
        let ping = PingSocket(key, on: socket, token: lastPingToken)
        pingSockets[key] = ping
        pingTokens[lastPingToken] = ping
        return ping
    }
}

/// A request in progress. It is used only on the engine's thread.
protocol SocketOperation: AnyObject {
    /// Performs the action that is due, and checks whether the request has ended.
    ///
    /// - Returns: The time of the next action; nil after the end, when the callback has been scheduled.
    func advance(_ loop: EngineLoop) -> Duration?

    /// Reads from the socket of the request.
    func receive(_ readiness: Readiness, _ loop: EngineLoop)

    /// Schedules the callback with the outcome `cancelled`.
    func cancel(_ loop: EngineLoop)
}

/// A poller for many sockets, with a timeout and a wakeup. Only `wake()` is thread-safe.
///
/// C counterpart: `epoll(7)`, `eventfd(2)`.
struct Poller: ~Copyable, Sendable {
    /// The token of the wakeup descriptor.
    private static let wakeup: UInt64 = 0

    private let epoll: Descriptor
    private let event: Wakeup

    init() throws(SocketError) {
        let event: Wakeup
        do throws(SystemError) { event = try Wakeup() } catch { throw SocketError(.watch, error) }
        let number = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard number >= 0 else { throw SocketError(.watch, .current) }
        epoll = Descriptor(owning: number)
        self.event = event
        _ = clinux_epoll_set(number, EPOLL_CTL_ADD, event.number, Readiness.readable.rawValue, Self.wakeup)
    }

    /// Ends the current or the next wait. Thread-safe.
    func wake() { event.wake() }

    func add(_ socket: borrowing NetworkSocket, _ readiness: Readiness, token: UInt64) throws(SocketError) {
        let number = socket.descriptor.number
        guard clinux_epoll_set(epoll.number, EPOLL_CTL_ADD, number, readiness.rawValue, token) == 0 else {
            throw SocketError(.watch, .current)
        }
    }

    func change(_ socket: borrowing NetworkSocket, _ readiness: Readiness, token: UInt64) {
        _ = clinux_epoll_set(epoll.number, EPOLL_CTL_MOD, socket.descriptor.number, readiness.rawValue, token)
    }

    /// Removes a socket. It is called before the socket is closed, because a closed socket is reported as long as another process has a copy
    /// of it (`epoll(7)`).
    func remove(_ socket: borrowing NetworkSocket) {
        _ = clinux_epoll_set(epoll.number, EPOLL_CTL_DEL, socket.descriptor.number, 0, 0)
    }

    /// Waits for at most `limit`, or without a limit if nil. Returns the sockets that are ready.
    func wait(atMost limit: Duration?) -> [(token: UInt64, readiness: Readiness)] {
        let capacity = 64
        return withUnsafeTemporaryAllocation(of: clinux_ready.self, capacity: capacity) { ready in
            let count = clinux_epoll_wait(epoll.number, ready.baseAddress, CInt(capacity), Self.milliseconds(limit))
            return ready.prefix(max(0, Int(count))).compactMap { event in
                guard event.token == Self.wakeup else { return (event.token, Readiness(rawValue: event.events)) }
                self.event.clear()
                return nil
            }
        }
    }

    /// Rounds up, because a wait that ends before the deadline is useless.
    private static func milliseconds(_ limit: Duration?) -> CInt {
        guard let limit else { return -1 }
        return CInt(clamping: (limit.nanoseconds + 999_999) / 1_000_000)
    }
}

/// The operations that are possible on a socket without blocking.
///
/// C counterpart: `epoll_ctl(2)`.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: 0x001)
    static let writable = Readiness(rawValue: 0x004)
    /// The connection has ended. Always reported, like errors.
    static let hungUp = Readiness(rawValue: 0x010)
}

/// A heap of deadlines, the earliest first, with the numbers of their requests. Entries are not removed before their
/// time, so a request may already have ended.
struct DeadlineHeap {
    private var heap: [(moment: Duration, operation: UInt64)] = []

    /// The earliest deadline.
    var next: Duration? { heap.first?.moment }

    mutating func insert(_ moment: Duration, for operation: UInt64) {
        heap.append((moment, operation))
        var child = heap.count - 1
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Returns and removes the earliest deadline if it has passed.
    mutating func popDue(at now: Duration) -> (operation: UInt64, moment: Duration)? {
        guard let first = heap.first, first.moment <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return (first.operation, first.moment) }
        heap[0] = last
        var parent = 0
        while true {
            let children = min(2 * parent + 1, heap.count)..<min(2 * parent + 3, heap.count)
            guard !children.isEmpty, let child = children.min(by: { heap[$0].moment < heap[$1].moment }),
                heap[child].moment < heap[parent].moment
            else { return (first.operation, first.moment) }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
