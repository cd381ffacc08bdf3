import Logging
import NIOCore
import NIOPosix
import ServerTrust
import ServerTrustNIO
import TrustForge

/// A client that performs a TLS handshake with a server on loopback and waits for its first bytes.
enum TrustClient {
    /// The result of one connection.
    struct Outcome: Sendable {
        let handshake: Result<TrustedHandshake, any Error>
        /// The first bytes from the server; nil if there were none.
        let greeting: String?
        /// The errors that were fired through the pipeline.
        let errors: [any Error]
        /// The result of the write that is issued at once.
        let written: Result<Void, any Error>

        /// The verdict, with its reason; nil if another error ended the handshake.
        var verdict: TrustCase.Verdict? {
            switch handshake {
            case .success: .trusted
            case .failure(let error as ServerTrustError): .refused(error.reason)
            case .failure: nil
            }
        }

        /// The error of a handshake that failed for a reason other than trust.
        var otherError: (any Error)? {
            guard case .failure(let error) = handshake, !(error is ServerTrustError) else { return nil }
            return error
        }
    }

    /// Connects, sends a request at once, and waits for the first bytes or the end of the connection.
    static func connect(
        _ factory: ServerTrustHandlerFactory,
        host: String,
        port: Int,
        onChannel: @escaping @Sendable (any Channel) -> Void = { _ in }
    ) async throws -> Outcome {
        let (channel, handshake, findings) = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                // The test receives the channel before the handshake starts.
                onChannel(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let handshake = try channel.pipeline.syncOperations.addServerTrust(factory, host: host)
                    let findings = ListeningHandler.Findings(channel.eventLoop)
                    try channel.pipeline.syncOperations.addHandler(ListeningHandler(findings))
                    return (channel, handshake, findings)
                }
            }
        let outcome = await handshake.result
        let greeting = try await findings.greeting.futureResult.get()
        try? await channel.close()
        try await channel.closeFuture.get()
        return Outcome(
            handshake: outcome,
            greeting: greeting,
            errors: try await findings.errors.futureResult.get(),
            written: await findings.written.futureResult.result
        )
    }

    /// Returns a factory with the evaluator, anchors and time of a documented case.
    static func factory(
        _ trust: TrustCase,
        _ change: (inout TLSClientSettings, inout TrustConfiguration) -> Void = { _, _ in }
    ) throws -> ServerTrustHandlerFactory {
        let evaluator = trust.evaluator
        var settings = TLSClientSettings()
        var configuration = TrustConfiguration()
        configuration.anchors = TrustAnchors(trust.anchors)
        configuration.requirements = trust.requirements
        configuration.now = { trust.time }
        configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        change(&settings, &configuration)
        // A lookup also applies to invalid hosts, which no pattern matches.
        let manager = ServerTrustManager(evaluators: [:], lookup: { _ in evaluator })
        return try ServerTrustHandlerFactory(manager: manager, settings: settings, configuration: configuration)
    }
}

extension EventLoopFuture where Value: Sendable {
    var result: Result<Value, any Error> {
        get async {
            do {
                return .success(try await get())
            } catch {
                return .failure(error)
            }
        }
    }
}
