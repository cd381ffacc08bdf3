import AsyncHTTPClient
import NIOCore

/// async-http-client knows whether a body can be sent again, and how long it is, but does not tell: this looks at how the body is made
/// up. What is not recognised counts as a stream of unknown length, so the worst that a new version can do is that a body is sent
/// in chunks, and not a second time.
extension HTTPClientRequest.Body {
    /// Whether the body can be sent any number of times: bytes in memory, and not a sequence that is read once.
    var isReplayable: Bool {
        switch mode?.label {
        case "byteBuffer": return true
        case "sequence": return detail("canBeConsumedMultipleTimes") as? Bool ?? false
        default: return false
        }
    }

    /// How many bytes it has; nil where that is not known.
    var length: Int64? {
        if mode?.label == "byteBuffer" { return (mode?.value as? ByteBuffer).map { Int64($0.readableBytes) } }
        guard let length = detail("length").map({ Mirror(reflecting: $0).children.first }) ?? nil else { return nil }
        return length.label == "known" ? length.value as? Int64 : nil
    }

    private var mode: Mirror.Child? {
        Mirror(reflecting: self).descendant("mode").flatMap { Mirror(reflecting: $0).children.first }
    }

    private func detail(_ name: String) -> Any? {
        mode.flatMap { Mirror(reflecting: $0.value).descendant(name) }
    }
}
