import CNetworkLab
import Glibc

/// A connection of a ``ScriptedServer``, as its script uses it. All functions block the thread of the connection.
package final class ScriptedConnection {
    /// The number of the connection, from 1.
    package let number: Int
    /// The TCP connection, below TLS.
    package let stream: LabStream
    private let coder: (any StreamCoder)?
    private let record: (ScriptedServer.Event) -> Void
    /// Plain bytes that were received and not yet returned.
    private var buffer: [UInt8] = []

    init(
        _ number: Int,
        _ stream: LabStream,
        _ coder: (any StreamCoder)?,
        record: @escaping (ScriptedServer.Event) -> Void
    ) {
        (self.number, self.stream, self.coder, self.record) = (number, stream, coder, record)
    }

    // MARK: Bytes

    /// Completes the TLS handshake, if the server uses TLS. Returns whether the connection can be used.
    @discardableResult
    package func handshake() -> Bool {
        guard let coder else { return true }
        while !coder.isReady {
            guard fill() else { return false }
        }
        return true
    }

    /// Returns the bytes that have arrived, as soon as there are any; empty at the end of the connection.
    package func receive() -> [UInt8] {
        guard !buffer.isEmpty || fillPlain() else { return [] }
        defer { buffer = [] }
        return buffer
    }

    /// Sends all bytes. Returns whether the peer still accepts bytes.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        guard let coder else { return stream.send(bytes) }
        guard handshake(), !coder.isClosed, (try? coder.encode(bytes)) != nil else { return false }
        return stream.send(coder.takeOutput())
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Reads until the peer closes the connection.
    package func waitForEnd() {
        while !receive().isEmpty {}
    }

    /// Closes the connection. With TLS, it sends a closure alert and waits for the peer's for at most 5 seconds.
    package func close() {
        if let coder, coder.isReady, !coder.isClosed {
            coder.end()
            let deadline = Deadline(after: .seconds(5))
            var isOpen = stream.send(coder.takeOutput())
            while isOpen, !coder.isClosed {
                let bytes = stream.receive(within: .milliseconds(deadline.milliseconds))
                isOpen = !bytes.isEmpty && (try? coder.decode(bytes)) != nil
            }
        }
        coder?.abandon()
        stream.close()
    }

    /// Adds plain bytes to the buffer. Returns false at the end of the connection.
    private func fillPlain() -> Bool {
        let count = buffer.count
        while buffer.count == count {
            guard fill() else { return false }
        }
        return true
    }

    /// Reads once. With TLS, the bytes may contain no plain ones.
    private func fill() -> Bool {
        if let coder, coder.isClosed { return false }
        var bytes = stream.receive()
        guard !bytes.isEmpty else { return false }
        if let coder {
            let wasReady = coder.isReady
            let plain = try? coder.decode(bytes)
            if !wasReady, coder.isReady { record(.secured(serverName: coder.serverName)) }
            let isSent = stream.send(coder.takeOutput())
            guard let plain, isSent || !plain.isEmpty else { return false }
            bytes = plain
        }
        if !bytes.isEmpty { record(.received(bytes)) }
        buffer += bytes
        return true
    }

    // MARK: HTTP

    /// Returns the next request without its body, which ``readBody(_:)`` reads; nil at the end of the connection.
    package func nextHead() -> ReceivedRequest? {
        let end = Array("\r\n\r\n".utf8)
        guard let head = take(through: end) else { return nil }
        return ReceivedRequest(head: String(decoding: head, as: UTF8.self), connection: number)
    }

    /// Reads the body of a request and records the request. Returns false if the connection ends before the body.
    package func readBody(_ request: inout ReceivedRequest) -> Bool {
        if request["Transfer-Encoding"]?.lowercased() == "chunked" {
            var size = 0
            repeat {
                guard let line = take(through: [13, 10]) else { return false }
                size = Int(String(decoding: line.prefix { $0 != 13 && $0 != 59 }, as: UTF8.self), radix: 16) ?? 0
                guard let chunk = take(size + 2) else { return false }
                request.body += chunk.dropLast(2)
            } while size > 0
        } else if let length = request["Content-Length"].flatMap({ Int($0) }) {
            guard let body = take(length) else { return false }
            request.body = body
        }
        request.isComplete = true
        note(&request)
        return true
    }

    /// Returns the next whole request; nil at the end of the connection.
    package func nextRequest() -> ReceivedRequest? {
        guard var request = nextHead(), readBody(&request) else { return nil }
        return request
    }

    /// Records a request whose body was not read.
    package func note(_ request: inout ReceivedRequest) {
        request.time = .now
        record(.request(request))
    }

    /// Sends a reply. Returns whether the connection continues.
    package func perform(_ reply: ScriptedReply) -> Bool {
        if reply.delay > .zero { LabThread.pause(reply.delay) }
        if case .tunnel(let port) = reply.ending { return tunnel(to: port, reply.pieces) }
        for piece in reply.pieces {
            guard send(piece) else { return false }
        }
        switch reply.ending {
        case .stay: return true
        case .close, .tunnel: close()
        case .reset:
            if !reply.pieces.isEmpty { LabThread.pause(.milliseconds(5)) }
            stream.reset()
        case .cut: stream.close()
        case .endless: if let last = reply.pieces.last { while send(last) {} }
        }
        return false
    }

    private func take(through end: [UInt8]) -> [UInt8]? {
        var start = 0
        while true {
            let bytes = buffer[start...]
            if let range = bytes.firstRange(of: end) { return take(range.upperBound) }
            start = max(0, buffer.count - end.count + 1)
            guard fillPlain() else { return nil }
        }
    }

    private func take(_ count: Int) -> [UInt8]? {
        while buffer.count < count {
            guard fillPlain() else { return nil }
        }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }
}

extension ScriptedConnection {
    /// Connects to a port of 127.0.0.1, sends the pieces, and copies bytes in both directions until one side closes its connection.
    func tunnel(to port: Int, _ pieces: [[UInt8]]) -> Bool {
        let number = lab_connect("127.0.0.1", UInt16(port), 1)
        var event = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        guard number >= 0, poll(&event, 1, -1) >= 0, lab_socket_error(number) == 0 else { return false }
        let (near, far) = (stream, LabStream(number))
        for piece in pieces { near.send(piece) }
        let back = try? LabThread.start { Self.copy(from: far, to: near) }
        Self.copy(from: near, to: far)
        if let back { pthread_join(back, nil) }
        return false
    }

    private static func copy(from source: LabStream, to target: LabStream) {
        while case let bytes = source.receive(), !bytes.isEmpty, target.send(bytes) {}
        source.interrupt()
        target.interrupt()
    }
}

/// The server's end of a connection. The socket is closed with its last owner. Its functions may block.
package final class LabStream: Sendable {
    private let socket: LabDescriptor

    init(_ number: CInt) {
        socket = LabDescriptor(number)
    }

    /// Returns the bytes that have arrived, as soon as there are any; empty at the end of the stream and after `limit`.
    package func receive(within limit: Duration? = nil) -> [UInt8] {
        guard socket.number >= 0 else { return [] }
        var event = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        _ = poll(&event, 1, limit.map { Deadline(after: $0).milliseconds } ?? -1)
        return [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
            count = max(0, recv(socket.number, bytes.baseAddress, bytes.count, 0))
        }
    }

    /// Sends all bytes. Returns whether the peer still accepts bytes.
    @discardableResult
    package func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0, errno != EAGAIN { return false }
            rest = rest.dropFirst(max(0, count))
            var event = pollfd(fd: socket.number, events: Int16(POLLOUT), revents: 0)
            _ = poll(&event, 1, -1)
        }
        return true
    }

    /// Reads until the peer closes the connection.
    package func waitForEnd() {
        while !receive().isEmpty {}
    }

    /// Waits for a reset without reading.
    package func waitForReset() {
        var event = pollfd(fd: socket.number, events: 0, revents: 0)
        _ = poll(&event, 1, -1)
    }

    /// Closes the sending direction only. Closing both while received bytes are unread sends a reset.
    package func halfClose() {
        shutdown(socket.number, CInt(SHUT_WR))
    }

    /// Closes the connection with a reset (`SO_LINGER` of `socket(7)`).
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket.number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close()
    }

    /// Resets the connection and wakes the thread that waits for it, from any thread. The descriptor stays open.
    func abort() {
        // See tcp(7) and connect(2): AF_UNSPEC dissolves the association, for TCP by a reset.
        var address = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        connect(socket.number, &address, socklen_t(MemoryLayout<sockaddr>.size))
    }

    package func close() {
        socket.close()
    }

    /// Ends both directions and wakes a thread that waits. The descriptor stays open, so no other thread can get its number.
    func interrupt() {
        shutdown(socket.number, CInt(SHUT_RDWR))
    }
}

/// An HTTP/1.1 request as a ``ScriptedServer`` received it.
package struct ReceivedRequest: Sendable {
    /// The request line and the header fields, with the empty line behind them.
    package let head: String
    /// The body, decoded if it was chunked.
    package internal(set) var body: [UInt8] = []
    /// Whether the whole body arrived.
    package internal(set) var isComplete = false
    /// The number of the connection, from 1.
    package let connection: Int
    /// The time at which the server recorded the request.
    package internal(set) var time = ContinuousClock.now

    package var method: String { String(head.prefix { $0 != " " }) }

    /// The request target: a path, a URL or an authority (RFC 9112, section 3.2).
    package var target: String {
        head.split(separator: "\r\n").first?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    }

    /// The head and the body.
    package var text: String { head + bodyText }

    package var bodyText: String { String(decoding: body, as: UTF8.self) }

    /// The header fields in the order of their arrival, with names in lower case.
    package var headers: [(name: String, value: String)] {
        head.split(separator: "\r\n").dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (line[..<colon].lowercased(), String(value))
        }
    }

    /// All values by name. Values of the same name are joined by ", ".
    package var fields: [String: String] {
        Dictionary(headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
    }

    /// The first value of a header field.
    package subscript(_ name: String) -> String? {
        headers.first { $0.name == name.lowercased() }?.value
    }
}
