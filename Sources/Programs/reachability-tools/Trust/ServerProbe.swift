import CommandLineSupport
import Glibc
import LinuxSupport
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServerTrust
import ServerTrustNIO

/// Connects to a server with TLS 1.2 or later, reads its certificates, and disconnects.
struct ServerProbe: Sendable {
    /// The server name in the handshake.
    let server: ServerAddress
    /// The destination of the connection.
    let destination: ServerAddress

    /// Connects and completes the handshake.
    ///
    /// - Throws: ``ExitMessage`` if there is no server, no TLS or no completed handshake, and `ServerTrustError` if the server's own
    ///   certificate cannot be read.
    func shown() async throws -> ShownServer {
        let evaluator = RecordingEvaluator()
        let manager = ServerTrustManager(evaluators: [:], lookup: { _ in evaluator })
        var configuration = TrustConfiguration()
        configuration.logger = .silent
        let factory = try ServerTrustHandlerFactory(manager: manager, configuration: configuration)
        let host = server.host
        let connection: Connection
        do {
            connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                // The time limit of the command applies to all steps together.
                .connectTimeout(.hours(1))
                .connect(host: destination.destination, port: destination.port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        Connection(
                            channel: channel,
                            handshake: try channel.pipeline.syncOperations.addServerTrust(factory, host: host)
                        )
                    }
                }
        } catch {
            throw ExitMessage(connectingTo: destination, error)
        }
        defer { connection.channel.close(promise: nil) }
        do {
            let handshake = try await connection.handshake.get()
            return ShownServer(trust: handshake.trust, version: Self.number(handshake.version))
        } catch let error as ServerTrustError {
            throw error
        } catch {
            // Any server can send any certificate. Only a completed handshake proves that the server has the key.
            if evaluator.shown != nil { throw ExitMessage(unprovenBy: destination, error) }
            throw ExitMessage(shakingHandsWith: destination, error)
        }
    }

    private struct Connection: Sendable {
        let channel: any Channel
        let handshake: EventLoopFuture<TrustedHandshake>
    }

    private static func number(_ version: TLSVersion?) -> String {
        switch version {
        case nil: "1.2 or later"
        case .tlsv1: "1.0"
        case .tlsv11: "1.1"
        case .tlsv12: "1.2"
        case .tlsv13: "1.3"
        }
    }
}

extension Logger {
    /// A logger without output, because the command prints the results itself.
    static let silent = Logger(label: "reachability.trust") { _ in SwiftLogNoOpLogHandler() }
}

/// Accepts every server on purpose. No data is sent to the server, and its certificates are evaluated later or only printed.
final class RecordingEvaluator: ServerTrustEvaluating {
    /// The trust of the server; nil before its certificates are received.
    var shown: ServerTrust? { content.withLock { $0 } }

    private let content = Locked<ServerTrust?>(nil)

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        content.withLock { $0 = trust }
    }
}

/// The result of a completed handshake, which proves that the server has the key of its certificate.
struct ShownServer: Sendable {
    /// The server's certificates, not evaluated yet.
    var trust: ServerTrust
    /// The TLS version, for example `1.3`.
    let version: String
}

extension ExitMessage {
    /// Creates the message for a failed connection.
    init(connectingTo server: ServerAddress, _ error: any Error) {
        guard let error = error as? NIOConnectionError else {
            let advice = "try `reachability why \(server.host)`"
            self.init("cannot connect to \(server): \(Self.cause(error)); \(advice)", .unavailable)
            return
        }
        guard let failure = error.connectionErrors.first?.error else {
            self.init(
                "cannot resolve \(server.host): there is no address for the name; check its spelling",
                .unavailable
            )
            return
        }
        let advice = "check whether a server is running, and try `reachability why \(server.host)`"
        self.init("cannot connect to \(server): \(Self.cause(failure)); \(advice)", .unavailable)
    }

    /// Creates the message for a server that sent no certificate.
    init(shakingHandsWith server: ServerAddress, _ error: any Error) {
        self.init(
            "cannot get a certificate from \(server): \(Self.cause(error).printable); the port must accept TLS 1.2 or later",
            .unavailable
        )
    }

    /// Creates the message for a handshake that failed after the server sent a certificate.
    init(unprovenBy server: ServerAddress, _ error: any Error) {
        self.init(
            """
            cannot complete the TLS handshake with \(server): \(Self.cause(error).printable); its certificate is not evaluated, because \
            the server has not proved that it has the key (a TLS 1.2 server that requires a client certificate fails like this)
            """,
            .unavailable
        )
    }

    private static func cause(_ error: any Error) -> String {
        switch error {
        case let error as IOError: unsafe String(cString: strerror(error.errnoCode))
        case ChannelError.eof, NIOSSLError.uncleanShutdown: "it closed the connection"
        default: HandshakeFault.reason(of: error)
        }
    }
}

/// A host and a port: `example.org`, `192.0.2.1:8443`, `2001:db8::1`, `[2001:db8::1]:443`.
struct ServerAddress: Hashable, Sendable {
    /// The host as given, without brackets.
    let host: String
    let port: Int

    /// The name to resolve, or the address with its zone.
    let destination: String

    /// - Throws: ``ExitMessage`` if the text is not a server.
    init(_ text: String, defaultPort: Int = 443) throws(ExitMessage) {
        let refusal = ExitMessage(
            "\"\(text.secretsMasked.printable)\" is not a server; write example.org, 192.0.2.1:8443 or [2001:db8::1]:443, without scheme or path",
            .usage
        )
        guard let place = HostAndPort(text, allowsBareAddress: true),
            !place.isBracketed || place.host.contains(":"), let server = try? ServerHost(place.host),
            let port = place.port(orElse: UInt16(clamping: defaultPort))
        else { throw refusal }
        (host, self.port) = (place.host, Int(port))
        destination = server.isAddress ? host : server.description
    }
}

extension ServerAddress: CustomStringConvertible {
    /// The host and the port, with brackets around an IPv6 address.
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
