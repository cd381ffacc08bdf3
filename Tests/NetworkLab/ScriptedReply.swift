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
