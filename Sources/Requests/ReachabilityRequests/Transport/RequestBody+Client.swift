import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ReachabilityRetry

extension OutgoingRequest {
    /// As the client wants it. Only bytes in memory are in it; other bodies are made for each attempt.
    var clientRequest: HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method.rawValue)
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        if case .bytes(let bytes) = body { request.body = .bytes(ByteBuffer(bytes: bytes)) }
        return request
    }
}

extension RequestBody {
    /// Makes the body for an attempt; nil where it is in memory.
    var maker: (@Sendable () throws -> HTTPClientRequest.Body)? {
        switch self {
        case .bytes: nil
        case .file(let path):
            {
                let length = try FilePart.length(of: path)
                return .stream(BodyPieces([.file(path, length: length)]), length: .known(length))
            }
        case .multipart(let form): { .stream(BodyPieces(form.pieces), length: .known(form.contentLength)) }
        }
    }
}

/// A body in pieces of 64 KiB at most, whose files are opened when it is their turn.
struct BodyPieces: AsyncSequence, Sendable {
    private let pieces: [MultipartFormData.Content]

    init(_ pieces: [MultipartFormData.Content]) { self.pieces = pieces }

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...]) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<MultipartFormData.Content>
        private var file: FilePart?

        fileprivate init(rest: ArraySlice<MultipartFormData.Content>) { self.rest = rest }

        mutating func next() async throws -> ByteBuffer? {
            while true {
                if let bytes = try file?.next() { return ByteBuffer(bytes: bytes) }
                file = nil
                switch rest.popFirst() {
                case nil: return nil
                case .bytes(let bytes): return ByteBuffer(bytes: bytes)
                case .file(let path, let length): file = try FilePart(path, length: length)
                }
            }
        }
    }
}
