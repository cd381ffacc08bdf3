import LinuxPrimitives
import NIOCore
import NIOPosix
import NIOSSL

/// A server on a loopback address that answers each request with bytes of the test's.
final class RawServer: Sendable {
    private struct State {
        var requests: [String] = []
        var connections = 0
        var closed = 0
    }

    private let state: Locked<State>
    private let channel: any Channel
    private let isSecure: Bool

    /// - Parameters:
    ///   - tls: Without it nothing is encrypted.
    ///   - answer: What is done with the request; its number begins with 1. Nil is for somebody else who answers.
    init(
        address: String = "127.0.0.1",
        tls: NIOSSLContext? = nil,
        answer: @escaping @Sendable (_ request: String, _ number: Int, _ context: ChannelHandlerContext) -> Reply?
    ) async throws {
        let state = Locked(State())
        self.state = state
        isSecure = tls != nil
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                state.withLock { $0.connections += 1 }
                channel.closeFuture.whenComplete { _ in state.withLock { $0.closed += 1 } }
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    let handler = RawHandler { request, context in
                        let number = state.withLock { state in
                            state.requests.append(request)
                            return state.requests.count
                        }
                        return answer(request, number, context)
                    }
                    try pipeline.addHandler(handler)
                }
            }
            .bind(host: address, port: 0).get()
    }

    /// Always the same answer.
    convenience init(address: String = "127.0.0.1", tls: NIOSSLContext? = nil, _ reply: Reply) async throws {
        try await self.init(address: address, tls: tls) { _, _, _ in reply }
    }

    var port: Int { channel.localAddress?.port ?? 0 }

    /// What was received, whole.
    var requests: [String] { state.withLock { $0.requests } }

    var connections: Int { state.withLock { $0.connections } }

    /// How many connections are over.
    var closed: Int { state.withLock { $0.closed } }

    func url(_ path: String = "/", host: String = "127.0.0.1") -> String {
        "\(isSecure ? "https" : "http")://\(host):\(port)\(path)"
    }

    /// Returns when that many connections are over.
    func waitUntilClosed(_ count: Int) async {
        while closed < count { await Task.yield() }
    }

    func waitForRequests(_ count: Int) async {
        while requests.count < count { await Task.yield() }
    }

    func waitForConnections(_ count: Int) async {
        while connections < count { await Task.yield() }
    }

    func close() async throws {
        try await channel.close()
    }
}

/// Runs `body` with a server that always answers the same, and closes it.
func withServer<Value>(
    _ reply: Reply,
    tls: NIOSSLContext? = nil,
    _ body: (RawServer) async throws -> Value
) async throws -> Value {
    try await withServer(try await RawServer(tls: tls, reply), body)
}

func withServer<Value>(_ server: RawServer, _ body: (RawServer) async throws -> Value) async throws -> Value {
    do {
        let value = try await body(server)
        try await server.close()
        return value
    } catch {
        try? await server.close()
        throw error
    }
}
