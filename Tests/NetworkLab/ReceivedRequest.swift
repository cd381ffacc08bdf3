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
    /// When the server recorded the request.
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
