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
    ///
    /// - Parameter watch: Told what is handed over.
    func maker(_ watch: UploadWatch?) -> (@Sendable () throws -> HTTPClientRequest.Body)? {
        switch self {
        case .bytes: nil
        case .file(let path):
            {
                let length = try FilePart.length(of: path)
                return .stream(BodyPieces([.file(path, length: length)], watch), length: .known(length))
            }
        case .multipart(let form):
            { .stream(BodyPieces(form.pieces, watch), length: .known(form.contentLength)) }
        }
    }
}

/// A body in pieces of 64 KiB at most, whose files are opened when it is their turn.
struct BodyPieces: AsyncSequence, Sendable {
    private let pieces: [MultipartFormData.Content]
    private let watch: UploadWatch?

    init(_ pieces: [MultipartFormData.Content], _ watch: UploadWatch?) { (self.pieces, self.watch) = (pieces, watch) }

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...], watch) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<MultipartFormData.Content>
        private var file: FilePart?
        private let watch: UploadWatch?

        fileprivate init(rest: ArraySlice<MultipartFormData.Content>, _ watch: UploadWatch?) {
            (self.rest, self.watch) = (rest, watch)
        }

        mutating func next() async throws -> ByteBuffer? {
            guard let bytes = try nextBytes() else { return nil }
            watch?.count(bytes.count)
            return ByteBuffer(bytes: bytes)
        }

        private mutating func nextBytes() throws -> [UInt8]? {
            while true {
                if let bytes = try file?.next() { return bytes }
                file = nil
                switch rest.popFirst() {
                case nil: return nil
                case .bytes(let bytes): return bytes
                case .file(let path, let length): file = try FilePart(path, length: length)
                }
            }
        }
    }
}
