/// Jobs that wait for their turn, the first first.
struct EngineLine {
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
        defer { self = EngineLine() }
        return Array(jobs.values)
    }
}

/// What is to be done, and who is told what came of it: on the engine's thread, so it must not wait.
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
