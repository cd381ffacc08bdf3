import Foundation
import NetworkLab
import Testing

/// A client and a server at the ends of a cable, the command, and a directory for downloads.
final class DownloadLab: Sendable {
    let directory: ScratchDirectory
    let server: FileServer
    let client: LabNamespace
    private let far: LabNamespace

    let url = "http://192.0.2.1:\(ScriptedServer.labPort)/file"
    var file: String { directory.file("file") }
    var part: String { directory.file("file.part") }

    private init(_ directory: ScratchDirectory, _ behaviour: FileServer.Behaviour) throws {
        self.directory = directory
        (client, far) = (try LabNamespace(), try LabNamespace())
        try client.ip(
            "link set lo up",
            "link add c0 type veth peer name s0 netns \(far.path)",
            "link set c0 up",
            "addr add 192.0.2.2/24 dev c0",
            "route add default via 192.0.2.1"
        )
        try far.ip("link set lo up", "link set s0 up", "addr add 192.0.2.1/24 dev s0")
        server = try FileServer(in: far, behaviour)
    }

    static func make(_ behaviour: FileServer.Behaviour) async throws -> DownloadLab {
        try await LabThread.detached { try DownloadLab(ScratchDirectory(), behaviour) }
    }

    /// Connects or disconnects the cable at the server's end.
    func setCable(isIn: Bool) async throws {
        try await LabThread.detached { [far] in try far.ip("link set s0 \(isIn ? "up" : "down")") }
    }

    /// Starts a download of the file in the directory.
    func start(_ options: String = "", environment: String = "true") async throws -> RunningCommand {
        let script = "cd \(directory.path); \(environment); exec $R download \(options) \(url)"
        return try await RunningCommand.start(script: script, in: client)
    }

    /// Runs a download to its end.
    func run(_ options: String = "", environment: String = "true") async throws -> CommandResult {
        try await start(options, environment: environment).result()
    }

    /// Waits until `count` bytes of the file were received.
    func untilPart(has count: Int) async throws {
        try await waitUntil(every: .milliseconds(5)) { size(part) >= count }
    }

    /// Waits until `count` requests were received.
    func untilRequests(are count: Int) async throws {
        try await waitUntil(every: .milliseconds(5)) { server.requests.count >= count }
    }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }

    func content() -> [UInt8]? { FileManager.default.contents(atPath: file).map { [UInt8]($0) } }

    private func size(_ path: String) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? -1
    }
}

/// A server in a namespace with one file. It sends the version and ranges of the file. A test changes its connections and versions.
final class FileServer: Sendable {
    struct Behaviour {
        var content: [UInt8]
        /// The header field ETag; nil for none.
        var tag: String? = #""v1""#
        var status = 200
        /// The end of the range that the server sends. It delays the bytes after it.
        var limit = Int.max
        /// True if the server closes the connection instead of delaying.
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
                // A tunnel of a proxy: requests in it are for this server.
                if request.method == "CONNECT" {
                    guard connection.send("HTTP/1.1 200 OK\r\n\r\n") else { return }
                } else if !Self.answer(request.head, on: connection, state) {
                    return
                }
            }
        }
    }

    deinit { stop() }

    /// The heads of the received requests, oldest first.
    var requests: [String] { server.requests }

    /// Changes the behaviour, also of a waiting response.
    func behave(_ change: (inout Behaviour) -> Void) {
        state.with { state in
            change(&state.behaviour)
            state.condition.broadcast()
        }
    }

    func stop() {
        server.stop()
        behave { ($0.limit, $0.closes) = (0, true) }
    }

    private static func answer(_ request: String, on connection: ScriptedConnection, _ state: State) -> Bool {
        let behaviour = state.with { $0.behaviour }
        let content = behaviour.content
        var (start, status, fields) = (0, behaviour.status, "")
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
