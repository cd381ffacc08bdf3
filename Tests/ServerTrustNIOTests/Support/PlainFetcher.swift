import NIOCore
import NIOPosix
import ServerTrust

/// The least HTTP that a responder understands: one request to an address, its body until the connection ends.
struct PlainFetcher: RevocationFetching {
    func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8] {
        do {
            return try await answer(request)
        } catch let error as RevocationFetchError {
            throw error
        } catch {
            throw .failed("\(request.url): \(error)")
        }
    }

    private func answer(_ request: RevocationRequest) async throws -> [UInt8] {
        let parts = request.url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        let place = parts[1].split(separator: ":")
        let path = "/" + (parts.count > 2 ? parts[2] : "")
        let address = try SocketAddress(ipAddress: String(place[0]), port: Int(place[1]) ?? 80)
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: address) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let answer = try await channel.executeThenClose { inbound, outbound in
            var head = "\(request.method.rawValue) \(path) HTTP/1.0\r\nHost: \(parts[1])\r\n"
            if let type = request.contentType { head += "Content-Type: \(type)\r\n" }
            head += "Content-Length: \(request.body.count)\r\n\r\n"
            try await outbound.write(ByteBuffer(bytes: Array(head.utf8) + request.body))
            var answer: [UInt8] = []
            for try await part in inbound { answer += Array(buffer: part) }
            return answer
        }
        guard let end = answer.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw RevocationFetchError.failed("no head")
        }
        let status = Int(String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self)) ?? 0
        guard status == 200 else { throw RevocationFetchError.status(status) }
        return Array(answer[end.upperBound...])
    }
}
