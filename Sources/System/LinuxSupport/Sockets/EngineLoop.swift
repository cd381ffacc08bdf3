import CLinux
import Glibc

/// The thread of an engine: all its sockets and flights. For that thread alone.
final class EngineLoop {
    /// Something in the air, and when something is due for it.
    private struct Entry {
        let flight: any Flight
        var moment: Duration?
    }

    /// Tokens of ping sockets have this bit; those of flights, which are their numbers, do not.
    private static let pingTokens: UInt64 = 1 << 63

    let inbox: EngineInbox
    let buffer = MessageBuffer()
    /// By the monotonic clock; read once in each turn.
    private(set) var now = SystemClock.monotonic
    private let limits: EngineLimits
    /// Why nothing can be done, where that is so.
    private let obstacle: SocketError?
    /// Notifies in place of this thread, where it has moved to another namespace.
    private let callbacks: CallbackThread?
    private var flights: [UInt64: Entry] = [:]
    private var deadlines = DeadlineHeap()
    /// Flights that something came for.
    private var touched: [UInt64] = []
    /// The receiver of the outcome.
    private var finished: [@Sendable () -> Void] = []
    /// Jobs that wait for a descriptor, and echoes that wait for their turn.
    private var sockets = JobQueue()
    private var echoes = JobQueue()
    private var echoCount = 0
    private var pingSockets: [PingSocket.Key: PingSocket] = [:]
    private var pingTokens: [UInt64: PingSocket] = [:]
    private var lastPingToken = EngineLoop.pingTokens
    /// How many sockets there may be by what the system has given lately: others take descriptors, too.
    private var room: Int

    init(_ inbox: EngineInbox, _ limits: EngineLimits, obstacle: SocketError?, callbacks: CallbackThread?) {
        self.inbox = inbox
        self.limits = limits
        self.obstacle = obstacle
        self.callbacks = callbacks
        room = limits.descriptors
    }

    /// Works until the inbox is closed, and cancels what is left.
    func run() {
        while true {
            let ready = inbox.poller.wait(atMost: patience)
            now = SystemClock.monotonic
            for event in ready { receive(event.token, event.readiness) }
            guard let commands = inbox.take() else { break }
            for command in commands { perform(command) }
            while let (number, moment) = deadlines.popDue(at: now) {
                if flights[number]?.moment == moment { advance(number) }
            }
            startWaiting()
            flush()
            tell()
        }
        for job in sockets.removeAll() + echoes.removeAll() { finish(job.cancel) }
        for number in Array(flights.keys) { cancel(number) }
        tell()
    }

    /// Keeps for the end of the turn who is to be notified: by then the socket is closed.
    func finish(_ tell: @escaping @Sendable () -> Void) {
        finished.append(tell)
    }

    private func tell() {
        guard !finished.isEmpty else { return }
        if let callbacks {
            callbacks.run(finished)
        } else {
            for tell in finished { tell() }
        }
        finished.removeAll(keepingCapacity: true)
    }

    /// How long there is nothing to do, unless something comes; nil for ever.
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

    /// Sends the echoes that stand in line, as often as there is room for more in the air.
    private func flush() {
        for socket in Array(pingSockets.values) { socket.flush(self) }
        advanceTouched()
    }

    private func receive(_ token: UInt64, _ readiness: Readiness) {
        if let entry = flights[token] {
            entry.flight.receive(readiness, self)
            advance(token)
        } else if let socket = pingTokens[token] {
            if readiness.contains(.writable) { socket.resume(self) }
            socket.receive(self)
            advanceTouched()
        }
    }

    /// Something came for a flight.
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
        guard let entry = flights[number] else { return }
        guard let moment = entry.flight.advance(self) else { return remove(number) }
        guard moment != entry.moment else { return }
        flights[number]?.moment = moment
        deadlines.insert(moment, for: number)
    }

    private func cancel(_ number: UInt64) {
        if let job = sockets.remove(number) ?? echoes.remove(number) { finish(job.cancel) }
        guard let entry = flights[number] else { return }
        entry.flight.cancel(self)
        remove(number)
    }

    private func remove(_ number: UInt64) {
        if flights.removeValue(forKey: number)?.flight is EchoFlight { echoCount -= 1 }
    }

    /// The last of its echoes is over.
    func close(_ socket: PingSocket) {
        pingSockets[socket.key] = nil
        pingTokens[socket.token] = nil
    }
}

// MARK: - Starting

extension EngineLoop {
    /// True if there is room for something that waits: what made room may have come while others were sent.
    private var canStart: Bool {
        sockets.first() != nil && hasDescriptor || echoes.first().map(hasRoom) == true
    }

    private func hasRoom(for echo: EngineJob) -> Bool {
        guard echoCount < limits.echoes, let key = echo.pingSocket else { return false }
        return hasDescriptor || pingSockets[key] != nil
    }

    private var hasDescriptor: Bool { socketCount < room }

    private var socketCount: Int { flights.count - echoCount + pingSockets.count }

    /// Starts what there is room for.
    private func startWaiting() {
        while hasDescriptor, let (number, job) = sockets.popFirst() { start(number, job) }
        while let echo = echoes.first(), hasRoom(for: echo), let (number, job) = echoes.popFirst() {
            start(number, job)
        }
    }

    private func start(_ number: UInt64, _ job: EngineJob) {
        do throws(SocketError) {
            flights[number] = Entry(flight: try flight(number, job), moment: nil)
            if job.isEcho { echoCount += 1 }
            advance(number)
            room = min(limits.descriptors, room + 1)
        } catch {
            // With none of our own in the air nobody here would make room.
            guard error.kind == .noDescriptors, socketCount > 0 else { return finish { job.refuse(error) } }
            room = socketCount
            job.isEcho ? echoes.putBack(number, job) : sockets.putBack(number, job)
        }
    }

    private func flight(_ number: UInt64, _ job: EngineJob) throws(SocketError) -> any Flight {
        switch job {
        case .connect(let request, let tell):
            let socket = try openStream(number, to: request.endpoint, request.settings, request.retries)
            // Whoever keeps it speaks first.
            if request.afterwards == .keep { try socket.delayAcknowledgement() }
            return ConnectFlight(request, on: socket, self, tell)
        case .stream(let request, let tell):
            let socket = try openStream(number, to: request.endpoint, request.settings, request.retries)
            try socket.delayAcknowledgement()
            return StreamFlight(number, request, on: socket, self, tell)
        case .datagram(let request, let tell):
            switch request.content {
            case .payload(let payload):
                let socket = try NetworkSocket.open(.udp, request.endpoint.family, request.settings)
                try socket.connect(to: request.endpoint)
                try inbox.poller.add(socket, .readable, token: number)
                return DatagramFlight(request, payload, on: socket, self, tell)
            case .echo(let size):
                let socket = try pingSocket(PingSocket.Key(family: request.endpoint.family, settings: request.settings))
                let flight = EchoFlight(number, request, size: size, on: socket, self, tell)
                socket.add(flight)
                return flight
            }
        }
    }

    private func openStream(
        _ number: UInt64,
        to endpoint: SocketEndpoint,
        _ settings: SocketSettings,
        _ retries: UInt8?
    ) throws(SocketError) -> NetworkSocket {
        let socket = try NetworkSocket.open(.tcp, endpoint.family, settings)
        if let retries { try socket.setSynRetries(retries) }
        try inbox.poller.add(socket, .writable, token: number)
        return socket
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

/// A job that is being done. On the thread of its engine alone.
protocol Flight: AnyObject {
    /// Does what is due, and checks whether it is over.
    ///
    /// - Returns: The time of the next action; nil after the end, when the caller has been notified.
    func advance(_ loop: EngineLoop) -> Duration?

    /// Reads what its socket has.
    func receive(_ readiness: Readiness, _ loop: EngineLoop)

    /// Notifies the caller of the cancellation.
    func cancel(_ loop: EngineLoop)
}

/// Waits for many sockets, for a moment, and for being woken. All but `wake()` is for one thread.
///
/// C counterpart: `epoll(7)`, `eventfd(2)`.
struct Poller: ~Copyable, Sendable {
    /// The key of the wakeup, which is not a socket.
    private static let wakeup: UInt64 = 0

    private let epoll: Descriptor
    private let event: Descriptor

    init() throws(SocketError) {
        let epoll = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw SocketError(.watch, .current) }
        let event = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
        guard event >= 0 else {
            let error = SystemError.current
            close(epoll)
            throw SocketError(.watch, error)
        }
        self.epoll = Descriptor(owning: epoll)
        self.event = Descriptor(owning: event)
        _ = clinux_epoll_set(epoll, EPOLL_CTL_ADD, event, Readiness.readable.rawValue, Self.wakeup)
    }

    /// Ends the wait that is going on, or the next one. From any thread.
    func wake() {
        eventfd_write(event.number, 1)
    }

    /// - Parameter token: not 0; closing the socket takes it out.
    func add(_ socket: borrowing NetworkSocket, _ readiness: Readiness, token: UInt64) throws(SocketError) {
        let number = socket.descriptor.number
        guard clinux_epoll_set(epoll.number, EPOLL_CTL_ADD, number, readiness.rawValue, token) == 0 else {
            throw SocketError(.watch, .current)
        }
    }

    func change(_ socket: borrowing NetworkSocket, _ readiness: Readiness, token: UInt64) {
        _ = clinux_epoll_set(epoll.number, EPOLL_CTL_MOD, socket.descriptor.number, readiness.rawValue, token)
    }

    /// Takes a socket out that is not closed.
    func remove(_ socket: borrowing NetworkSocket) {
        _ = clinux_epoll_set(epoll.number, EPOLL_CTL_DEL, socket.descriptor.number, 0, 0)
    }

    /// Waits for at most `limit`, without one for ever, and says which sockets are ready.
    func wait(atMost limit: Duration?) -> [(token: UInt64, readiness: Readiness)] {
        let capacity = 64
        return withUnsafeTemporaryAllocation(of: clinux_ready.self, capacity: capacity) { ready in
            let count = clinux_epoll_wait(epoll.number, ready.baseAddress, CInt(capacity), Self.milliseconds(limit))
            return ready.prefix(max(0, Int(count))).compactMap { event in
                if event.token == Self.wakeup {
                    var value: eventfd_t = 0
                    eventfd_read(self.event.number, &value)
                    return nil
                }
                return (event.token, Readiness(rawValue: event.events))
            }
        }
    }

    /// Rounded up, for a moment that has not come is of no use.
    private static func milliseconds(_ limit: Duration?) -> CInt {
        guard let limit else { return -1 }
        return CInt(clamping: (limit.nanoseconds + 999_999) / 1_000_000)
    }
}

/// The operations that a socket permits without waiting.
///
/// C counterpart: `epoll_ctl(2)`.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static let readable = Readiness(rawValue: 0x001)
    static let writable = Readiness(rawValue: 0x004)
    /// The connection is over; reported without being asked for, as errors are.
    static let hungUp = Readiness(rawValue: 0x010)
}

/// Moments, the earliest first, and whom they concern. Nothing is taken out before its time: whom it concerns may be gone by then.
struct DeadlineHeap {
    private var heap: [(moment: Duration, flight: UInt64)] = []

    /// The earliest moment.
    var next: Duration? { heap.first?.moment }

    mutating func insert(_ moment: Duration, for flight: UInt64) {
        heap.append((moment, flight))
        var child = heap.count - 1
        while child > 0, heap[child].moment < heap[(child - 1) / 2].moment {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Takes the earliest out, when its moment has come.
    mutating func popDue(at now: Duration) -> (flight: UInt64, moment: Duration)? {
        guard let first = heap.first, first.moment <= now else { return nil }
        let last = heap.removeLast()
        if heap.isEmpty { return (first.flight, first.moment) }
        heap[0] = last
        var parent = 0
        while true {
            let children = min(2 * parent + 1, heap.count)..<min(2 * parent + 3, heap.count)
            guard !children.isEmpty, let child = children.min(by: { heap[$0].moment < heap[$1].moment }),
                heap[child].moment < heap[parent].moment
            else { return (first.flight, first.moment) }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
