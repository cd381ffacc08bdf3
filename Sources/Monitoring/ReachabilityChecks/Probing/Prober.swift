package import LinuxSupport
import NetworkReachability

/// Sends the probes of one family along one path of the kernel's, and makes results of what comes back; the line itself is probed in one
/// round. Nothing is sent but by its functions; each says to whom.
package struct Prober: Sendable {
    let engine: SocketEngine
    let line: LineFacts
    let binding: ProbeBinding
    let trust: WebTrust
    /// What it shares with other probers.
    let gate: ProbeGate
    /// Whether bytes cost money, so that less is asked.
    var isThrifty = false
    /// When a question over UDP is sent.
    var tries: [Duration] = [.zero, .milliseconds(700), .milliseconds(1500)]

    /// - Parameters:
    ///   - engine: of the namespace of `line`.
    ///   - line: what the kernel knows of the path.
    ///   - trust: whom web probes trust; one value for all probers of a check reads the system's roots once.
    ///   - gate: what it shares with other probers.
    package init(
        engine: SocketEngine,
        line: LineFacts,
        binding: ProbeBinding,
        trust: WebTrust = WebTrust(),
        gate: ProbeGate = ProbeGate()
    ) {
        (self.engine, self.line, self.binding, self.trust, self.gate) = (engine, line, binding, trust, gate)
    }

    var family: AddressFamily { binding.family }

    /// What sockets are set to.
    func settings(hopLimit: UInt8? = nil) -> SocketSettings {
        SocketSettings(
            source: binding.source.map { endpoint($0) },
            interface: binding.interface,
            mark: binding.mark,
            hopLimit: hopLimit ?? binding.hopLimit,
            maximumSegment: binding.maximumSegment,
            priority: binding.priority
        )
    }

    /// A link-local address belongs to the link that it names, or to that of the path.
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
