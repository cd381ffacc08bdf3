import LinuxSupport
import Netlink
import NetworkReachability
import ServerTrustNIO

/// Sends probes of one address family along one path of the kernel.
struct Prober: Sendable {
    let engine: SocketEngine
    let line: LineFacts
    let binding: ProbeBinding
    let trust: WebTrust
    /// The rate limits that are shared with other probers.
    let gate: ProbeGate
    /// True if the line is metered, so that fewer probes are sent.
    var isThrifty = false
    /// The times at which a DNS question is sent over UDP.
    var tries: [Duration] = [.zero, .milliseconds(700), .milliseconds(1500)]

    /// - Parameters:
    ///   - engine: The socket engine in the namespace of `line`.
    ///   - trust: The trust of web probes. If all probers of a check share it, the system's trust store is read once.
    ///   - gate: The rate limits that are shared with other probers.
    init(
        engine: SocketEngine,
        line: LineFacts,
        binding: ProbeBinding,
        trust: WebTrust = WebTrust(),
        gate: ProbeGate = ProbeGate()
    ) {
        (self.engine, self.line, self.binding, self.trust, self.gate) = (engine, line, binding, trust, gate)
    }

    var family: AddressFamily { binding.family }

    /// Returns the socket settings.
    func settings(hopLimit: UInt8? = nil) -> SocketSettings {
        SocketSettings(
            source: binding.source.map { endpoint($0) },
            interface: binding.interface,
            mark: binding.mark,
            hopLimit: hopLimit,
            maximumSegment: binding.maximumSegment
        )
    }

    /// Returns a socket endpoint. A link-local address gets its zone, or the link of the path.
    func endpoint(_ address: IPAddress, port: UInt16 = 0) -> SocketEndpoint {
        var link: UInt32 = 0
        if address.isIPv6, address.isLinkLocal { link = address.zone.flatMap { line.link(zone: $0) } ?? line.link }
        return SocketEndpoint(address.wire, port: port, interfaceIndex: link)
    }

    func request(
        _ kind: ProbeKind,
        _ subject: ProbeSubject,
        _ destination: IPAddress?,
        port: UInt16? = nil,
        limit: Duration
    ) -> ProbeRequest {
        ProbeRequest(kind, subject, binding: binding, destination: destination, port: port, limit: limit)
    }
}

/// Probes that open TCP connections and close them with a reset.
extension Prober {
    /// The time limit of a connection. A router reports "host unreachable" only after three seconds.
    static let connectLimit = Duration.milliseconds(3400)

    /// Opens a connection, and closes it.
    func connect(
        _ subject: ProbeSubject,
        to address: IPAddress,
        port: UInt16,
        kind: ProbeKind = .tcp,
        limit: Duration = connectLimit
    ) async -> ProbeResult {
        let request = request(kind, subject, address, port: port, limit: limit)
        await gate.pass()
        return result(request, await engine.connect(connection(request)), about: address)
    }

    /// Creates the engine's request for a connection.
    func connection(_ request: ProbeRequest) -> StreamRequest {
        let address = request.destination ?? IPAddress(WireAddress(family: family, bits: 0))
        return StreamRequest(
            to: endpoint(address, port: request.port ?? 0),
            settings: settings(),
            retries: request.kind == .interception ? 1 : 2,
            limit: request.limit
        )
    }

    /// Returns the outcome of a connection that this machine refused or gave up, without an ICMP error from another machine.
    private func refused(_ cause: SystemError, from local: SocketEndpoint?, about address: IPAddress) -> ProbeOutcome {
        guard cause == .hostUnreachable else { return .blockedHere(cause.rawValue) }
        // The kernel did not resolve the neighbour. It usually generates an ICMP error to itself for this.
        let (type, code): (UInt8, UInt8) = family == .ipv4 ? (3, 1) : (1, 3)
        let sender = local.map { IPAddress($0.address) } ?? address
        return .unreachable(ICMPError(family: family, type: type, code: code, sender: sender, source: .thisMachine))
    }

    func result(_ request: ProbeRequest, _ outcome: StreamOutcome, about address: IPAddress) -> ProbeResult {
        let end: ProbeOutcome =
            switch outcome.end {
            case .answered, .closed, .tooLong: .answered
            case .failed(.connectionRefused): .refused(.peer)
            case .failed(.connectionReset), .failed(.brokenPipe): .invalid(.reset)
            case .failed(let cause): refused(cause, from: outcome.local, about: address)
            case .error: outcome.errors.last.map { self.outcome($0, about: address) } ?? .silent
            case .silent: .silent
            case .notSent(let error): ProbeOutcome(error)
            case .cancelled: .cancelled
            }
        var result = ProbeResult(request, generation: line.generation, end)
        if let information = outcome.information {
            result.evidence.kernelRoundTrip = information.roundTrip
            result.evidence.retransmits = information.totalRetransmits
            result.evidence.segmentSize = information.sendSegmentSize
            let sent = information.segmentsSent ?? 1
            let received = (information.segmentsReceived ?? 0) + outcome.errors.count
            result.cost = ProbeCost(packets: sent + received, bytes: (sent + received) * 60)
        }
        if end == .answered {
            result.phases[.connect] = outcome.duration
        } else if end != .cancelled {
            result.failedPhase = .connect
        }
        return result
    }
}

/// The first probe of a target in a ``CheckQueue``.
extension Prober {
    /// Returns the first probe of a target's round, if a single packet or connection can decide.
    ///
    /// - Parameters:
    ///   - mayEcho: Whether echoes are permitted, as far as is known.
    ///   - completion: Receives the result on the engine's thread. It must not block.
    /// - Returns: Nil for a target that requires more probes, for example a TLS handshake.
    func first(
        of target: CheckTarget,
        at address: IPAddress,
        limit: Duration,
        mayEcho: Bool,
        _ completion: @escaping @Sendable (ProbeResult) -> Void
    ) -> EngineJob? {
        switch target.service {
        case .any, .echo:
            guard mayEcho else {
                let probe = closedPortRequest(.target, address, limit: limit)
                return .datagram(closedPort(probe)) { completion(closedPortResult(probe, $0)) }
            }
            let probe = request(.echo, .target, address, limit: limit)
            return .datagram(echo(probe)) { completion(result(probe, $0)) }
        case .tcp(let port):
            let probe = request(.tcp, .target, address, port: port, limit: limit)
            return .stream(connection(probe)) { completion(result(probe, $0, about: address)) }
        case .web, .handshake, .name, .dns, .ssh, .ntp:
            return nil
        }
    }
}

extension CheckTarget {
    /// True if a single packet or connection is sufficient if the target works.
    var decidesAtOnce: Bool {
        switch service {
        case .any, .echo, .tcp: true
        case .web, .handshake, .name, .dns, .ssh, .ntp: false
        }
    }
}

/// Lookups with the name service of the system.
extension Prober {
    /// Resolves all addresses of a name with `getaddrinfo(3)`, which uses files, DNS and other sources of `nsswitch.conf(5)`.
    ///
    /// The call cannot be cancelled. Its thread is replaced after `limit`.
    func resolve(_ name: String, limit: Duration = .milliseconds(3400)) async -> ProbeResult {
        let request = request(.resolve, .target, nil, limit: limit)
        let begun = SystemClock.monotonic
        let answer = await answer(for: name, limit)
        var result = ProbeResult(request, generation: line.generation, .answered)
        switch answer {
        case .success(let addresses)?:
            result.evidence.addresses = addresses.map { IPAddress($0) }
            result.phases[.resolve] = SystemClock.monotonic - begun
            return result
        case .failure(.noSuchName)?: result.outcome = .invalid(.nameNotFound)
        case .failure(.noAddress)?: result.outcome = .invalid(.noData)
        case .failure(.unavailable)?: result.outcome = .invalid(.temporaryFailure)
        case nil: result.outcome = Task.isCancelled ? .cancelled : .silent
        }
        if result.outcome != .cancelled { result.failedPhase = .resolve }
        return result
    }

    /// Returns the answer for a name. Nil at the time limit.
    private func answer(
        for name: String,
        _ limit: Duration
    ) async -> Result<[NameLookup.Address], NameLookup.Failure>? {
        let (answers, answered) = AsyncStream.makeStream(of: Result<[NameLookup.Address], NameLookup.Failure>.self)
        line.resolver.resolve(name) { answer in
            answered.yield(answer)
            answered.finish()
        }
        return await withTaskGroup { group in
            group.addTask { await answers.first { _ in true } }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

/// The origin of ICMP errors.
extension Prober {
    /// Returns the origin of an ICMP error about packets to `destination`.
    ///
    /// A router may send errors from another of its addresses. An error that arrives with an initial hop limit was sent on the link, and
    /// therefore by the gateway.
    func source(_ message: ErrorQueueMessage, about destination: WireAddress) -> ICMPSource {
        guard let offender = message.offender, !line.own.contains(offender) else { return .thisMachine }
        guard let gateway = line.gateway else { return offender == destination ? .peer : .hop(nil) }
        if offender == gateway.wire { return .gateway }
        if offender == destination { return .peer }
        guard let rest = message.hopLimit, let start = [64, 128, 255].first(where: { $0 >= rest }) else {
            return .hop(nil)
        }
        return start == rest ? .gateway : .hop(start - rest + 1)
    }

    func icmpError(_ message: ErrorQueueMessage, about destination: IPAddress) -> ICMPError {
        var error = ICMPError(
            family: family,
            type: message.type,
            code: message.code,
            sender: message.offender.map { IPAddress($0) } ?? destination,
            source: source(message, about: destination.wire)
        )
        if error.reason == .fragmentationNeeded { error.nextHopMTU = UInt16(exactly: message.information) }
        return error
    }

    /// Converts an ICMP error to the outcome of its probe.
    func outcome(_ message: ErrorQueueMessage, about destination: IPAddress) -> ProbeOutcome {
        let error = icmpError(message, about: destination)
        // A port-unreachable error from the host itself means a closed port. From another sender it comes from a packet filter.
        let isClosedPort = error.reason == .refusedByFirewall && error.sender.wire == destination.wire
        return isClosedPort ? .refused(error.source) : .unreachable(error)
    }
}

extension ProbeOutcome {
    /// Creates the outcome of a probe whose packet was not sent.
    init(_ error: SocketError) {
        self =
            switch error.kind {
            // The reason is not related to the network.
            case .other where error.step.isNamespace: .skipped(.interfaceGone)
            case .notPermitted: .skipped(.notPermitted)
            case .noDescriptors: .skipped(.noDescriptors)
            case .noBuffers: .skipped(.overBudget)
            case .other where error.cause == .tryAgain: .skipped(.overBudget)
            case .blocked, .noRoute, .noInterface, .noSuchAddress, .tooLong, .other:
                .blockedHere(error.cause.rawValue)
            }
    }
}
