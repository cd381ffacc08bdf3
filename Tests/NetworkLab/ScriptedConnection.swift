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
