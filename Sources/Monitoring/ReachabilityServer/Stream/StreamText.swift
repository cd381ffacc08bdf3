import LinuxSupport
import NIOCore

/// Events as browsers read them.
///
/// Source: the HTML standard, 9.2, Server-sent events.
enum StreamText {
    /// What a client is told first: how long it waits before it comes again, in milliseconds.
    static let opening = ByteBuffer(string: "retry: 1000\n\n")

    /// Shows that the connection lives. Browsers do not tell pages of it.
    static let heartbeat = ByteBuffer(string: ": alive\n\n")

    /// - Parameter data: In one line.
    static func event(_ name: String, _ position: StreamPosition, _ data: JSONObject) -> ByteBuffer {
        let bytes = data.bytes
        var buffer = ByteBuffer(string: "id: \(position)\nevent: \(name)\ndata: ")
        buffer.writeBytes(bytes)
        buffer.writeString("\n\n")
        return buffer
    }
}
