import AsyncHTTPClient
import Glibc
import NIOCore

/// async-http-client, with the code around it that its users write.
struct ClientSender: Sender {
    private static let client = HTTPClient.shared

    func get(_ url: String) async throws {
        let response = try await Self.client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
        try UnexpectedStatus.check(Int(response.status.code))
        _ = try await response.body.collect(upTo: 1 << 24)
    }

    func download(_ url: String, to path: String) async throws {
        let response = try await Self.client.execute(HTTPClientRequest(url: url), timeout: .hours(1))
        try UnexpectedStatus.check(Int(response.status.code))
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        for try await part in response.body {
            let bytes = Array(part.readableBytesView)
            guard write(file, bytes, bytes.count) == bytes.count else { throw UnexpectedStatus(status: Int(errno)) }
        }
        fsync(file)
    }

    func upload(_ path: String, to url: String) async throws {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        let length = Int64(lseek(file, 0, SEEK_END))
        lseek(file, 0, SEEK_SET)
        var request = HTTPClientRequest(url: url)
        request.method = .PUT
        request.body = .stream(Pieces(file: file), length: .known(length))
        let response = try await Self.client.execute(request, timeout: .hours(1))
        try UnexpectedStatus.check(Int(response.status.code))
    }
}

/// The size of reads from a file: 64 KiB.
private struct Pieces: AsyncSequence, AsyncIteratorProtocol {
    let file: CInt

    func makeAsyncIterator() -> Pieces { self }

    mutating func next() async throws -> ByteBuffer? {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? ByteBuffer(bytes: bytes[..<count]) : nil
    }
}
