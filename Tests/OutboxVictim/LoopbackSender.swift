import Dispatch
import Glibc
import ReachabilityOutbox
import ReachabilityRetry

/// A sender with a separate connection to a server on loopback for each request. It implements only the required part
/// of HTTP.
struct LoopbackSender: OutboxSender {
    let port: UInt16
    private let queue = DispatchQueue(label: "sender", attributes: .concurrent)

    func send(_ delivery: OutboxDelivery) async -> OutboxResult {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: exchange(delivery.request)) }
        }
    }

    private func exchange(_ request: OutboxRequest) -> OutboxResult {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return .retry(after: nil) }
        let headers = request.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        let head = "\(request.method) /effects HTTP/1.1\r\n\(headers)Content-Length: \(request.body.count)\r\n\r\n"
        let message = Array(head.utf8) + request.body
        guard Glibc.send(socket, message, message.count, Int32(MSG_NOSIGNAL)) == message.count else {
            return .retry(after: nil)
        }
        var answer = [UInt8](repeating: 0, count: 1024)
        let count = recv(socket, &answer, answer.count, 0)
        guard count > 12 else { return .retry(after: nil) }
        return switch String(decoding: answer[9..<12], as: UTF8.self) {
        case "200": .delivered
        case "400": .rejected(reason: "status 400")
        default: .retry(after: nil)
        }
    }
}
