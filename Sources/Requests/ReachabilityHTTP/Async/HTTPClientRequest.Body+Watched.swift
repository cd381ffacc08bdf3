import AsyncHTTPClient
import NIOCore

extension HTTPClientRequest.Body {
    /// The longest body in memory that is watched: it is copied byte by byte, a millisecond or two for so many. Beyond 4 MiB
    /// async-http-client would not send it again where a redirect wants that.
    static let watchedBytes: Int64 = 1 << 20

    /// The body, which tells when it is begun: the head of the request has been sent by then, and nothing of the body.
    func watched(_ begin: @escaping @Sendable () -> Void) async throws -> HTTPClientRequest.Body {
        guard isReplayable else {
            return .stream(WatchedStream(base: self, begin: begin), length: length.map { .known($0) } ?? .unknown)
        }
        return .bytes(WatchedBytes(base: try await inMemory().readableBytesView, begin: begin))
    }

    /// All of it; only for one that is replayable.
    func inMemory() async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for try await part in self {
            if whole.readableBytes == 0 { whole = part } else { whole.writeImmutableBuffer(part) }
        }
        return whole
    }
}

private struct WatchedStream: AsyncSequence, Sendable {
    let base: HTTPClientRequest.Body
    let begin: @Sendable () -> Void

    func makeAsyncIterator() -> HTTPClientRequest.Body.AsyncIterator {
        begin()
        return base.makeAsyncIterator()
    }
}

/// Bytes that are read when they are sent.
private struct WatchedBytes: RandomAccessCollection, Sendable {
    let base: ByteBufferView
    let begin: @Sendable () -> Void

    var startIndex: Int { base.startIndex }
    var endIndex: Int { base.endIndex }

    subscript(index: Int) -> UInt8 { base[index] }

    func makeIterator() -> ByteBufferView.Iterator {
        begin()
        return base.makeIterator()
    }
}
