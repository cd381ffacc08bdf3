import NIOSSL
import NetworkLab
import WebLab

typealias Reply = ScriptedReply

extension ScriptedReply {
    static func ok(_ body: String = "hello") -> Reply { ok(Array(body.utf8)) }

    static func ok(_ body: [UInt8]) -> Reply { .status(200, "OK", body: body) }

    /// Returns a reply that sends each byte separately.
    static func byteByByte(_ text: String, then ending: Ending) -> Reply {
        Reply(pieces: text.utf8.map { [$0] }, then: ending)
    }
}

extension ScriptedServer {
    /// A server that sends a text to each client, closes its sending direction, and reads until the client closes the connection.
    static func greeting(_ text: String) throws -> ScriptedServer {
        try .perConnection { connection in
            connection.send(text)
            if !text.isEmpty { connection.stream.halfClose() }
            connection.waitForEnd()
        }
    }

    /// A port that does not accept connections.
    static func unreachable(_ backlog: Backlog) throws -> ScriptedServer {
        try ScriptedServer(backlog: backlog) { _ in .silence }
    }

    func waitUntilClosed(_ count: Int) async {
        while closed < count { await Task.yield() }
    }

    func waitForRequests(_ count: Int) async {
        while received.count < count { await Task.yield() }
    }

    func waitForConnections(_ count: Int) async {
        while connections < count { await Task.yield() }
    }
}

/// Runs `body` with a server that gives the same reply to each request, and stops the server.
func withServer<Value>(
    _ reply: Reply,
    tls: NIOSSLContext? = nil,
    _ body: (ScriptedServer) async throws -> Value
) async throws -> Value {
    try await withServer(try ScriptedServer(coder: TLSCoder.layer(tls)) { _ in reply }, body)
}

func withServer<Value>(
    _ server: ScriptedServer,
    _ body: (ScriptedServer) async throws -> Value
) async throws -> Value {
    defer { server.stop() }
    return try await body(server)
}
