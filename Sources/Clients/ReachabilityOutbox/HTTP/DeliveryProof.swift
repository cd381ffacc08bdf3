import AsyncHTTPClient
import LinuxSupport
import NIOCore
import NIOHTTP1
import ReachabilityHTTP
public import ReachabilityRetry

/// What shows that a success comes from the server and not from a portal in its place.
public enum DeliveryProof: Hashable, Sendable {
    /// The status of the answer.
    case status(Int)
    /// A header field of the answer, with this value.
    case header(PlainRequest.Field)
    /// A text in the first 64 KiB of the body.
    case body(String)

    /// The maximum number of bytes of a body that are read.
    private static let bodyLimit = 64 << 10

    /// Reads the answer as far as needed.
    func isShown(by answer: HTTPClientResponse) async -> Bool {
        switch self {
        case .status(let status):
            await answer.discard()
            return Int(answer.status.code) == status
        case .header(let field):
            await answer.discard()
            return answer.headers[field.name].contains { $0.utf8.elementsEqual(field.value.utf8) }
        case .body(let text):
            var bytes: [UInt8] = []
            do {
                for try await part in answer.body {
                    bytes += part.readableBytesView.prefix(Self.bodyLimit - bytes.count)
                    if bytes.count >= Self.bodyLimit { break }
                }
            } catch {
                // What came of it counts.
            }
            return !bytes.ranges(of: Array(text.utf8)).isEmpty
        }
    }
}

extension OutboxRequest {
    /// The origin if an answer from it proves nothing: the scheme is `http` and the host is beyond this machine.
    var unprotectedOrigin: String? {
        guard let url = RequestURL(url), url.scheme == "http" else { return nil }
        let host = url.host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") || WireAddress(host)?.isLoopback == true { return nil }
        return url.origin
    }
}
