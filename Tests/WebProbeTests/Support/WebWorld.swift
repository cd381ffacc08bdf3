import LinuxSupport
import NetworkLab
import NetworkReachability
import ServerTrust
import ServerTrustNIO
import WebLab

@testable import ReachabilityChecks

/// A machine with only a loopback interface, which probes itself.
final class WebWorld: Sendable {
    static let host = "web.example"
    static let nonce = "0123456789abcdef"

    let namespace: LabNamespace
    private let engine: SocketEngine

    init() async throws {
        let namespace = try await LabThread.detached {
            let namespace = try LabNamespace()
            try namespace.ip("link set lo up")
            return namespace
        }
        self.namespace = namespace
        engine = try Self.engine(in: namespace)
    }

    static func engine(in namespace: LabNamespace) throws -> SocketEngine {
        try SocketEngine { () throws(SocketError) in
            do { try namespace.enter() } catch { throw SocketError(.enterNamespace("web"), .notPermitted) }
        }
    }

    /// Returns a prober for an address of this machine, which trusts the lab's authority.
    func prober(to address: String, now: @escaping @Sendable () -> Duration = { SystemClock.real }) throws -> Prober {
        try Self.prober(to: address, in: namespace, engine, now: now)
    }

    static func prober(
        to address: String,
        in namespace: LabNamespace,
        _ engine: SocketEngine,
        now: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) throws -> Prober {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .path(namespace.path)
        let manager = try NetworkReachabilityManager(host: address, options: options)
        return Prober(
            engine: engine,
            line: LineFacts(manager.path, of: manager),
            binding: ProbeBinding(
                family: address.contains(":") ? .ipv6 : .ipv4,
                namespace: options.networkNamespace
            ),
            trust: WebTrust(anchors: TrustAnchors([WebAuthority.root.certificate]), now: now)
        )
    }

    /// Sends one request to a server of this machine.
    func fetch(
        _ server: WebServer,
        _ purpose: WebRequest.Purpose = .target,
        isSecure: Bool = false,
        host: String = WebWorld.host,
        path: String = "/",
        at address: String = "127.0.0.1",
        limit: Duration = .seconds(60),
        now: @escaping @Sendable () -> Duration = { SystemClock.real }
    ) async throws -> ProbeResult {
        let url = try TrustedHTTPURL("\(isSecure ? "https" : "http")://\(host):\(server.port)\(path)")
        guard let place = IPAddress(address) else { throw LabError("no address: \(address)") }
        let subject: ProbeSubject = if case .anchor = purpose { .anchor(host) } else { .target }
        return try await prober(to: address, now: now)
            .fetch(subject, WebRequest(url, purpose), at: place, limit: limit)
    }

    /// Returns the states of the machine's connections (`tcp_states.h`), without ended ones.
    func openConnections() async throws -> [String] {
        try await namespace.perform {
            let text = TextFile.read("/proc/thread-self/net/tcp") ?? ""
            let states = text.split(separator: "\n").dropFirst().compactMap { line in
                line.split(separator: " ").dropFirst(3).first.map(String.init)
            }
            return states.filter { $0 != Self.listening && $0 != Self.timeWait }
        }
    }

    private static let timeWait = "06"
    private static let listening = "0A"

    func close() {
        namespace.close()
    }
}
