import CNetworkLab
import Glibc
import LinuxSupport

/// The test server: a TCP or Unix-socket server that runs a script for each connection, and records connections and requests. It uses
/// TLS if a coder is given; `WebLab` has one.
///
/// Each connection has a thread, so a script is straight-line code that may block. No thread of the server enters the network
/// namespace, only the listening sockets belong to it: a thread that Dispatch starts for a thread in a namespace would stay there.
///
/// Thread-safe.
package final class ScriptedServer: Sendable {
    /// The behaviour for one connection. The connection is closed when the script returns.
    package typealias Script = @Sendable (ScriptedConnection) -> Void

    /// Creates the TLS layer of a connection, on the thread of the connection.
    package typealias Coder = @Sendable () throws -> any StreamCoder

    /// How the server treats clients that connect.
    package enum Backlog: Sendable {
        case open
        /// Connections are refused until ``listen()``; the port stays reserved.
        case closed
        /// The queue is full, so the kernel drops connection requests (`listen(2)`).
        case full
    }

    /// The record of one connection.
    package struct Visit: Hashable, Sendable {
        /// The server name that the client requested.
        package var serverName: String?
        /// Whether the TLS handshake was completed.
        package var isSecure = false
        /// Plain bytes from the client.
        package var bytes: [UInt8] = []

        package var received: String { String(decoding: bytes, as: UTF8.self) }
    }

    enum Event {
        case secured(serverName: String?)
        case received([UInt8])
        case request(ReceivedRequest)
    }

    private struct State {
        var visits: [Visit] = []
        var requests: [ReceivedRequest] = []
        var open: [Int: LabStream] = [:]
        var closed = 0
        var acceptor: pthread_t?
    }

    /// A port for servers in a namespace, where all ports are free.
    package static let labPort = 4748
    /// All addresses that a namespace has and will have.
    package static let anyAddress = ["0.0.0.0", "::"]

    /// The TCP port of all addresses.
    package let port: Int
    private let state = Locked(State())
    private let listeners: [LabDescriptor]
    private let fillers: [LabDescriptor]
    private let stopping: StopSignal
    private let coder: Coder?
    private let script: Script

    private init(
        _ namespace: LabNamespace?,
        _ addresses: [String],
        _ port: Int,
        _ backlog: Backlog,
        _ coder: Coder?,
        _ script: @escaping Script
    ) throws {
        func bind() throws -> (sockets: [LabDescriptor], fillers: [LabDescriptor], port: Int) {
            var (port, sockets) = (UInt16(port), [LabDescriptor]())
            for address in addresses {
                let place = "binding \(address) port \(port)"
                let socket = LabDescriptor(try check(place, lab_socket_at(address, port, 1)))
                sockets.append(socket)
                // The port that the kernel selects for the first address is that of all.
                if !address.hasPrefix("/") { port = UInt16(try check("getsockname", lab_bound_port(socket.number))) }
            }
            guard case .full = backlog else { return (sockets, [], Int(port)) }
            for socket in sockets { try check("listen", Glibc.listen(socket.number, 0)) }
            let fillers = try (0..<8).map { _ in
                LabDescriptor(try check("connect", lab_connect(addresses[0], port, 1)))
            }
            return (sockets, fillers, Int(port))
        }
        (listeners, fillers, self.port) = try namespace?.perform(bind) ?? bind()
        stopping = try StopSignal()
        (self.coder, self.script) = (coder, script)
        if case .open = backlog { try listen() }
    }

    /// Makes a server that replies to each request.
    ///
    /// - Parameters:
    ///   - namespace: The network namespace of the listening sockets; nil for that of the calling thread.
    ///   - addresses: Numeric IPv4 and IPv6 addresses, and absolute paths of Unix sockets.
    ///   - port: The TCP port; 0 for one that the kernel selects.
    ///   - coder: Creates the TLS layer; nil for a server without TLS.
    package convenience init(
        in namespace: LabNamespace? = nil,
        at addresses: [String] = ["127.0.0.1"],
        port: Int = 0,
        backlog: Backlog = .open,
        coder: Coder? = nil,
        answer: @escaping @Sendable (ReceivedRequest) -> ScriptedReply
    ) throws {
        try self.init(namespace, addresses, port, backlog, coder) { connection in
            while let request = connection.nextRequest(), connection.perform(answer(request)) {}
        }
    }

    /// Makes a server that runs a script for each connection, with the parameters of `init`.
    package static func perConnection(
        in namespace: LabNamespace? = nil,
        at addresses: [String] = ["127.0.0.1"],
        port: Int = 0,
        coder: Coder? = nil,
        script: @escaping Script
    ) throws -> ScriptedServer {
        try ScriptedServer(namespace, addresses, port, .open, coder, script)
    }

    /// Replies to requests in turn, and repeats the last reply.
    package convenience init(replies: [ScriptedReply]) throws {
        let rest = Locked(replies)
        try self.init { _ in rest.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    }

    deinit {
        stop()
    }

    /// Accepts connections from now on.
    package func listen() throws {
        for listener in listeners { try check("listen", Glibc.listen(listener.number, 512)) }
        let (listeners, requested, state, coder, script) = (listeners, stopping.requested, state, coder, script)
        let acceptor = try LabThread.start {
            var events = ([requested] + listeners).map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
            while poll(&events, nfds_t(events.count), -1) < 0 || events[0].revents == 0 {
                for listener in listeners {
                    while case let number = lab_accept(listener.number), number >= 0 {
                        Self.serve(LabStream(number), state, coder, script)
                    }
                }
            }
        }
        self.state.withLock { $0.acceptor = acceptor }
    }

    private static func serve(
        _ stream: LabStream,
        _ state: Locked<State>,
        _ coder: Coder?,
        _ script: @escaping Script
    ) {
        let number = state.withLock { state in
            state.visits.append(Visit())
            state.open[state.visits.count] = stream
            return state.visits.count
        }
        let thread = try? LabThread.start {
            do {
                let connection = ScriptedConnection(number, stream, try coder?()) {
                    Self.record($0, of: number, in: state)
                }
                script(connection)
                connection.close()
            } catch {
                // Without its TLS layer, the connection is closed at once.
                stream.close()
            }
            state.withLock { state in
                state.open[number] = nil
                state.closed += 1
            }
        }
        if let thread { pthread_detach(thread) }
    }

    private static func record(_ event: Event, of number: Int, in state: Locked<State>) {
        state.withLock { state in
            switch event {
            case .secured(let name):
                state.visits[number - 1].serverName = name
                state.visits[number - 1].isSecure = true
            case .received(let bytes): state.visits[number - 1].bytes += bytes
            case .request(let request): state.requests.append(request)
            }
        }
    }

    /// Closes the port and ends all connections. Calling it twice has no effect. Another server may use the port afterwards.
    package func stop() {
        stopping.request()
        if let acceptor = state.withLock({ $0.acceptor.take() }) { pthread_join(acceptor, nil) }
        for listener in listeners + fillers { listener.close() }
        closeConnections()
    }

    /// Closes the open TCP connections, without a closure alert of TLS.
    package func closeConnections(withReset: Bool = false) {
        for stream in state.withLock({ Array($0.open.values) }) { withReset ? stream.abort() : stream.interrupt() }
    }

    // MARK: Records

    /// The requests in the order of their arrival.
    package var received: [ReceivedRequest] { state.withLock { $0.requests } }

    /// The texts of the requests in the order of their arrival.
    package var requests: [String] { received.map(\.text) }

    /// The connections in the order of their arrival.
    package var visits: [Visit] { state.withLock { $0.visits } }

    /// The number of connections so far.
    package var connections: Int { state.withLock { $0.visits.count } }

    /// The number of connections that have ended.
    package var closed: Int { state.withLock { $0.closed } }

    /// The number of connections that are open.
    package var openConnections: Int { state.withLock { $0.open.count } }

    package func url(_ path: String = "/", host: String = "127.0.0.1") -> String {
        "\(coder == nil ? "http" : "https")://\(host):\(port)\(path)"
    }
}

/// A layer between a TCP connection and the plain bytes of a ``ScriptedServer``: TLS, which `WebLab` implements. This module needs no
/// TLS library, and so neither do tests that use it alone.
///
/// The thread of the connection creates it and is the only one that uses it.
package protocol StreamCoder: AnyObject {
    /// Whether the handshake is complete.
    var isReady: Bool { get }
    /// Whether the peer has closed the layer, or an error has.
    var isClosed: Bool { get }
    /// The server name that the client requested (RFC 6066, section 3).
    var serverName: String? { get }
    /// Returns the plain bytes in bytes from the peer.
    func decode(_ bytes: [UInt8]) throws -> [UInt8]
    /// Encodes plain bytes for the peer.
    func encode(_ bytes: [UInt8]) throws
    /// Encodes the end of the layer.
    func end()
    /// Returns the encoded bytes since the last call.
    func takeOutput() -> [UInt8]
    /// Releases all resources. The layer cannot be used afterwards.
    func abandon()
}

/// The bytes that a ``ScriptedServer`` sends, and what it does with the connection afterwards.
package struct ScriptedReply: Sendable {
    package enum Ending: Hashable, Sendable {
        /// Waits for the next request, or until the peer closes the connection.
        case stay
        /// Closes the connection, with a closure alert if it uses TLS.
        case close
        /// Closes the connection with a TCP reset, a moment after the last piece: the peer's kernel discards unread bytes at a reset.
        case reset
        /// Closes the connection without the closure alert of TLS (RFC 8446, section 6.1).
        case cut
        /// Sends the last piece repeatedly until the peer closes the connection.
        case endless
        /// Connects to a port of 127.0.0.1 before it replies, and copies all bytes in both directions afterwards.
        case tunnel(port: Int)
    }

    /// Each is written separately.
    package var pieces: [[UInt8]]
    package var ending: Ending
    /// The time before the first piece.
    package var delay: Duration

    package init(pieces: [[UInt8]], then ending: Ending = .stay, after delay: Duration = .zero) {
        (self.pieces, self.ending, self.delay) = (pieces, ending, delay)
    }

    package init(_ text: String, then ending: Ending = .stay) {
        self.init(pieces: [Array(text.utf8)], then: ending)
    }

    /// No bytes, and no end.
    package static let silence = ScriptedReply(pieces: [])
    /// No bytes before the end of the connection.
    package static let disconnect = ScriptedReply(pieces: [], then: .close)

    /// A response with a body.
    ///
    /// - Parameter length: The value of `Content-Length`; nil for the length of the body.
    package static func status(
        _ status: Int,
        _ reason: String = "Lab",
        headers: [(name: String, value: String)] = [],
        body: [UInt8] = [],
        length: Int? = nil,
        then ending: Ending = .stay
    ) -> ScriptedReply {
        var lines = ["HTTP/1.1 \(status) \(reason)"] + headers.map { "\($0.name): \($0.value)" }
        if status != 204 { lines.append("Content-Length: \(length ?? body.count)") }
        let head = lines.joined(separator: "\r\n") + "\r\n\r\n"
        return ScriptedReply(pieces: [Array(head.utf8) + body], then: ending)
    }

    /// A redirect without a body.
    package static func redirect(_ status: Int, to location: String) -> ScriptedReply {
        .status(status, headers: [("Location", location)])
    }
}

/// A ``ScriptedServer`` whose replies are given as text and may be changed while it runs. It serves one request per connection.
package final class AnswerServer: Sendable {
    private let server: ScriptedServer
    private let answers: Locked<[String]>

    /// - Parameters:
    ///   - answers: One for each request; the last is repeated. Status, reason and header fields, as in `503 Busy\r\nRetry-After: 7`. An
    ///     empty one is no reply.
    ///   - isAway: Whether connections are refused until ``comeBack()``.
    package init(in namespace: LabNamespace? = nil, _ answers: String..., isAway: Bool = false) throws {
        let answers = Locked(answers)
        self.answers = answers
        server = try ScriptedServer(in: namespace, backlog: isAway ? .closed : .open) { _ in
            let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            if answer.isEmpty { return .silence }
            return ScriptedReply(
                "HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                then: .close
            )
        }
    }

    /// Accepts connections from now on.
    package func comeBack() throws {
        try server.listen()
    }

    package var port: Int { server.port }

    package var url: String { server.url() }

    /// The requests with header fields and bodies.
    package var requests: [String] { server.requests }

    package func answer(_ answers: String...) {
        self.answers.withLock { $0 = answers }
    }
}

/// Returns whether a connection to a port of this machine is accepted; false if it is refused.
package func accepts(_ port: UInt16, at host: String = "127.0.0.1") throws -> Bool {
    let socket = LabDescriptor(try check("connect", lab_connect(host, port, 1)))
    var event = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
    try check("poll", poll(&event, 1, -1))
    let error = lab_socket_error(socket.number)
    guard error == 0 || error == ECONNREFUSED else { throw LabError("connecting: error \(error)") }
    return error == 0
}
