import AsyncHTTPClient
import NIOCore

extension HTTPClientRequest.Body {
    /// The longest body in memory that is watched: it is copied byte by byte, a millisecond or two for so many. Beyond 4 MiB
    /// async-http-client would not send it again where a redirect wants that.
    static let watchedBytes: Int64 = 1 << 20

    /// How far a stream may be ahead of what the client's threads have taken.
    fileprivate static let aheadBytes = 512 << 10

    /// The body, which tells when it is begun: the head of the request has been sent by then, and nothing of the body.
    ///
    /// - Parameters:
    ///   - client: What sends it.
    ///   - begin: Told.
    func watched(by client: HTTPClient, _ begin: @escaping @Sendable () -> Void) async throws -> HTTPClientRequest.Body
    {
        guard isReplayable else {
            let stream = WatchedStream(base: self, client: client, begin: begin)
            return .stream(stream, length: length.map { .known($0) } ?? .unknown)
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

/// A stream that stays near to what is sent. The client hears in one thread that the connection takes no more, and asks for pieces in
/// another: while the first is held up, the second would read as much as the machine can.
private struct WatchedStream: AsyncSequence, Sendable {
    let base: HTTPClientRequest.Body
    let client: HTTPClient
    let begin: @Sendable () -> Void

    func makeAsyncIterator() -> Iterator {
        begin()
        return Iterator(base: base.makeAsyncIterator(), client: client)
    }

    struct Iterator: AsyncIteratorProtocol {
        var base: HTTPClientRequest.Body.AsyncIterator
        let client: HTTPClient
        var ahead = 0

        mutating func next() async throws -> ByteBuffer? {
            if ahead >= HTTPClientRequest.Body.aheadBytes {
                await client.settle()
                ahead = 0
            }
            let part = try await base.next(isolation: #isolation)
            ahead += part?.readableBytes ?? 0
            return part
        }
    }
}

extension HTTPClient {
    /// Returns when all that the client's threads were given until now is done.
    func settle() async {
        for loop in eventLoopGroup.makeIterator() { try? await loop.submit {}.get() }
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
