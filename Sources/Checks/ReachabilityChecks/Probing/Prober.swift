import LinuxPrimitives
import NetworkReachability
package import Sockets

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

/// How often a router may be asked for an ICMP error in one round: three times in three seconds. A Linux router answers a burst with six
/// at most, and then one in a second; of errors about its routes it sends two, and then one in two seconds. Who asks for more gets
/// nothing, and takes from others. Echoes are no errors. Thread-safe.
final class RouterAllowance: Sendable {
    private static let count = 3
    private static let time = Duration.seconds(3)

    private let sendings = Locked<[Duration]>([])

    /// Whether a packet may be sent now; then it counts as sent.
    func take(at now: Duration = SystemClock.monotonic) -> Bool {
        sendings.withLock { sendings in
            sendings.removeAll { $0 <= now - Self.time }
            guard sendings.count < Self.count else { return false }
            sendings.append(now)
            return true
        }
    }
}
