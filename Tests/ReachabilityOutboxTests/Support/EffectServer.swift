import Dispatch
import Glibc
import LinuxPrimitives
import Netlink
import NetworkLab
import TestSupport

/// An HTTP server on loopback that honours `Idempotency-Key`, and counts what it does: a body is done when its key is new.
/// Of its answers, chosen by a seed, some never come and some are 503, before or after the work was done.
final class EffectServer: Sendable {
    struct Counts {
        /// How often each body was done.
        var effects: [String: Int] = [:]
        /// The keys that were seen, and with which body.
        var keys: [String: String] = [:]
        var requests = 0
        /// Bodies in the order they were done in.
        var order: [String] = []
        var conflicts: [String] = []
        var generator: SeededGenerator
    }

    let port: UInt16
    private let listener: CInt
    private let state: Locked<Counts>
    private let faults: Bool
    private let queue = DispatchQueue(label: "server", attributes: .concurrent)

    init(seed: UInt64 = 1, faults: Bool = false) throws {
        self.faults = faults
        state = Locked(Counts(generator: SeededGenerator(seed: seed)))
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard bind(listener, address, length) == 0, listen(listener, 128) == 0 else { return CInt(-1) }
                return getsockname(listener, address, &length)
            }
        }
        guard code == 0 else { throw LabError.system("bind") }
        port = UInt16(bigEndian: address.sin_port)
        // A thread of its own, which may block.
        DispatchQueue(label: "listener").async { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                if connection < 0 { break }
                queue.async { [self] in serve(connection) }
            }
            close(listener)
        }
    }

    var counts: Counts { state.withLock { $0 } }

    /// Serves no more.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ connection: CInt) {
        defer {
            // A process that another test starts at this moment may have it too.
            shutdown(connection, Int32(SHUT_RDWR))
            close(connection)
        }
        guard let (headers, body) = Self.read(connection) else { return }
        let line = headers.first { $0.lowercased().hasPrefix("idempotency-key:") }
        let key = line.map { String($0.dropFirst("idempotency-key:".count).drop { $0 == " " }) } ?? "none"
        let answer: String? = state.withLock { state in
            state.requests += 1
            let fault = faults ? Int.random(in: 0..<8, using: &state.generator) : 7
            if fault == 0 { return "503 Service Unavailable" }
            if let earlier = state.keys.updateValue(body, forKey: key) {
                if earlier != body { state.conflicts.append(body) }
            } else {
                state.effects[body, default: 0] += 1
                state.order.append(body)
            }
            return fault == 1 ? nil : fault == 2 ? "503 Service Unavailable" : "200 OK"
        }
        guard let answer else { return }
        let text = Array("HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        _ = send(connection, text, text.count, Int32(MSG_NOSIGNAL))
    }

    private static func read(_ connection: CInt) -> (headers: [String], body: String)? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let headers = text[..<end.lowerBound].split(separator: "\r\n").map(String.init)
                let length = headers.first { $0.lowercased().hasPrefix("content-length:") }
                let wanted = length.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
                if text[end.upperBound...].utf8.count >= wanted { return (headers, String(text[end.upperBound...])) }
            }
            let count = recv(connection, &chunk, chunk.count, 0)
            // A process that is killed may have sent half.
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
    }
}
