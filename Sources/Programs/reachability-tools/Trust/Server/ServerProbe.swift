import CommandLineSupport
import LinuxSupport
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServerTrust
import ServerTrustNIO

/// Connects to a server with TLS 1.2 or later, takes the certificates it shows, and leaves.
struct ServerProbe: Sendable {
    /// Whom the handshake is meant for.
    let server: ServerAddress
    /// Where the connection goes.
    let destination: ServerAddress

    /// - Throws: ``ExitMessage`` when there is no server, no TLS or no finished handshake; `ServerTrustError` when its own certificate cannot be read.
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
                // The command has a limit for everything together.
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
            // Anybody can show a certificate. That it is the server's own is proven by the finished handshake alone.
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
    /// What would be logged is printed.
    static let silent = Logger(label: "reachability.trust") { _ in SwiftLogNoOpLogHandler() }
}

/// Lets every server pass, on purpose: nothing is sent to it, and what it has shown is judged afterwards, or only printed.
final class RecordingEvaluator: ServerTrustEvaluating {
    /// What it has shown; nil before it has.
    var shown: ServerTrust? { content.withLock { $0 } }

    private let content = Locked<ServerTrust?>(nil)

    func evaluate(_ trust: ServerTrust, forHost host: String) throws(ServerTrustError) {
        content.withLock { $0 = trust }
    }
}

/// What a server has shown in a finished handshake, which proves that it has the key of its certificate.
struct ShownServer: Sendable {
    /// Its certificates, to be judged.
    var trust: ServerTrust
    /// For example `1.3`.
    let version: String
}
