/// What a raw server does when a request has come, byte by byte.
struct Reply: Sendable {
    enum Ending: Sendable {
        /// Closes when everything is written.
        case close
        /// Closes without a word, with RST.
        case reset
        /// Waits until the other side closes.
        case stay
        /// Sends the last piece again and again, until the other side closes.
        case endless
    }

    /// Each is written on its own.
    var pieces: [[UInt8]]
    var ending = Ending.stay

    init(_ text: String, then ending: Ending = .stay) {
        pieces = [Array(text.utf8)]
        self.ending = ending
    }

    init(pieces: [[UInt8]], then ending: Ending = .stay) {
        self.pieces = pieces
        self.ending = ending
    }

    /// Each byte on its own.
    static func byteByByte(_ text: String, then ending: Ending = .stay) -> Reply {
        Reply(pieces: text.utf8.map { [$0] }, then: ending)
    }

    static func ok(_ body: String = "hello") -> Reply { ok(Array(body.utf8)) }

    static func ok(_ body: [UInt8]) -> Reply {
        Reply(pieces: [Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8) + body])
    }

    static func redirect(_ status: Int, to place: String) -> Reply {
        Reply("HTTP/1.1 \(status) Elsewhere\r\nLocation: \(place)\r\nContent-Length: 0\r\n\r\n")
    }

    static let silence = Reply(pieces: [])
}
