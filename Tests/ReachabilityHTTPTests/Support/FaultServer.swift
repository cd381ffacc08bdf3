import Glibc
import LinuxPrimitives
import NIOCore
import NIOHTTP1
import NIOPosix

/// A server of HTTP/1.1 that does with each request what the request asks for, and counts what it has done.
final class FaultServer: Sendable {
    /// A request as the server has seen it.
    struct Sight: Sendable {
        var id: String
        var method: String
        var headers: [String: String]
        var body: String
        /// Whether it came whole, so that the server acted on it.
        var isComplete: Bool
        /// Which of the connections it came over.
        var connection: Int
        /// When it was complete.
        var time: ContinuousClock.Instant
    }

    private struct State {
        var sights: [Sight] = []
        var connections = 0
        var closed = 0
    }

    private let state = Locked(State())
    private let group: MultiThreadedEventLoopGroup
    private let channel: any Channel

    /// - Parameter socket: A listening socket that was made elsewhere; nil for one on the loopback address.
    init(socket: CInt? = nil) async throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let state = state
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = state.withLock { state in
                        state.connections += 1
                        return state.connections
                    }
                    channel.closeFuture.whenComplete { _ in state.withLock { $0.closed += 1 } }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: false)
                    let handler = FaultHandler(connection: number) { sight in state.withLock { $0.sights.append(sight) }
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
        if let socket {
            channel = try await bootstrap.withBoundSocket(socket).get()
        } else {
            channel = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
        }
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    var sights: [Sight] { state.withLock { $0.sights } }

    /// How many connections there were, and how many of them are closed.
    var connections: (made: Int, closed: Int) { state.withLock { ($0.connections, $0.closed) } }

    /// How often the server acted on a request.
    func effects(of id: String) -> Int { sights.filter { $0.id == id && $0.isComplete }.count }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }
}

/// Runs `body` with a server, and closes it.
func withFaultServer<Value>(_ body: (FaultServer) async throws -> Value) async throws -> Value {
    let server = try await FaultServer()
    do {
        let value = try await body(server)
        try await server.close()
        return value
    } catch {
        try await server.close()
        throw error
    }
}
