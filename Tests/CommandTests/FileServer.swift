import Foundation
import NetworkLab

/// A server in a namespace that has one file, tells its version and sends parts of it; and whose connections and versions a test changes.
final class FileServer: Sendable {
    struct Behaviour {
        var content: [UInt8]
        /// The field ETag; nil for none.
        var tag: String? = #""v1""#
        var status = 200
        /// More header fields, with line ends.
        var fields = ""
        /// Up to which place of the file it sends; what is behind it waits.
        var limit = Int.max
        /// Whether a connection is closed where it would wait.
        var closes = false
    }

    private final class State: @unchecked Sendable {
        let condition = NSCondition()
        var behaviour: Behaviour

        init(_ behaviour: Behaviour) { self.behaviour = behaviour }

        func with<Value>(_ body: (State) -> Value) -> Value {
            condition.lock()
            defer { condition.unlock() }
            return body(self)
        }
    }

    private let state: State
    private let server: ScriptedServer

    init(in namespace: LabNamespace, _ behaviour: Behaviour) throws {
        let state = State(behaviour)
        self.state = state
        let (addresses, port) = (ScriptedServer.anyAddress, ScriptedServer.labPort)
        server = try .perConnection(in: namespace, at: addresses, port: port) { connection in
            while let request = connection.nextRequest() {
                // A tunnel of a proxy: what is asked through it is asked of this server.
                if request.method == "CONNECT" {
                    guard connection.send("HTTP/1.1 200 OK\r\n\r\n") else { return }
                } else if !Self.answer(request.head, on: connection, state) {
                    return
                }
            }
        }
    }

    deinit { stop() }

    /// What was asked: heads, in order.
    var requests: [String] { server.requests }

    /// Changes what it does, also where it waits.
    func behave(_ change: (inout Behaviour) -> Void) {
        state.with { state in
            change(&state.behaviour)
            state.condition.broadcast()
        }
    }

    /// Ends all connections with a reset, as one that is started again does.
    func resetConnections() {
        server.closeConnections(withReset: true)
    }

    func stop() {
        server.stop()
        behave { ($0.limit, $0.closes) = (0, true) }
    }

    private static func answer(_ request: String, on connection: ScriptedConnection, _ state: State) -> Bool {
        let behaviour = state.with { $0.behaviour }
        let content = behaviour.content
        var (start, status, fields) = (0, behaviour.status, behaviour.fields)
        if let tag = behaviour.tag {
            fields += "ETag: \(tag)\r\n"
            let asked = request.firstMatch(of: #/(?i)\r\nrange: bytes=(\d+)-\r\n/#).flatMap { Int($0.1) }
            if let asked, asked < content.count, request.contains("f-Range: \(tag)\r\n") {
                (start, status) = (asked, 206)
                fields += "Content-Range: bytes \(asked)-\(content.count - 1)/\(content.count)\r\n"
            }
        }
        let head = "HTTP/1.1 \(status) \u{1b}[31mLab\r\nContent-Length: \(content.count - start)\r\n\(fields)\r\n"
        guard connection.send(head) else { return false }
        while start < content.count {
            let (limit, closes) = state.with { state in
                while state.behaviour.limit <= start, !state.behaviour.closes { state.condition.wait() }
                return (state.behaviour.limit, state.behaviour.closes)
            }
            let end = min(content.count, start + (32 << 10), max(start, limit))
            guard connection.send(Array(content[start..<end])) else { return false }
            start = end
            if closes, start >= limit { return false }
        }
        return true
    }
}
