import Dispatch
import Glibc
import LinuxPrimitives

/// An HTTP server on loopback that gives the answers it was told to, one for each request, and the last again and again.
package final class AnswerServer: Sendable {
    package let port: Int
    private let listener: LabDescriptor
    private let state: Locked<(answers: [String], requests: [String])>

    /// - Parameters:
    ///   - answers: Status, reason, and headers if there are any, as in `503 Busy\r\nRetry-After: 7`; an empty one for no answer.
    ///   - isAway: Whether connections are refused until ``comeBack()``.
    package init(_ answers: String..., isAway: Bool = false) throws {
        listener = LabDescriptor(try check("socket", socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)))
        state = Locked((answers, []))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = listener.number
        let code = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            guard bind(number, pointer, length) == 0 else { return CInt(-1) }
            return pointer.map { getsockname(number, $0, &length) } ?? -1
        }
        guard code == 0 else { throw LabError.system("listening on 127.0.0.1") }
        port = Int(UInt16(bigEndian: address.sin_port))
        if !isAway { try comeBack() }
    }

    /// Takes connections from now on.
    package func comeBack() throws {
        guard listen(listener.number, 8) == 0 else { throw LabError.system("listen") }
        let (state, listener) = (state, listener)
        // A queue without a target has a thread of its own, which may block.
        DispatchQueue(label: "answers").async {
            while true {
                let number = accept(listener.number, nil, nil)
                guard number >= 0 else { return }
                Self.serve(LabDescriptor(number), state)
            }
        }
    }

    package var url: String { "http://127.0.0.1:\(port)/" }

    /// What was asked, each with headers and body.
    package var requests: [String] { state.withLock { $0.requests } }

    package func answer(_ answers: String...) { state.withLock { $0.answers = answers } }

    /// One exchange, after which the connection is closed.
    private static func serve(_ connection: LabDescriptor, _ state: Locked<(answers: [String], requests: [String])>) {
        var (request, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while !isWhole(String(decoding: request, as: UTF8.self)) {
            let count = read(connection.number, &chunk, chunk.count)
            guard count > 0 else { return }
            request += chunk[..<count]
        }
        let answer = state.withLock { state in
            state.requests.append(String(decoding: request, as: UTF8.self))
            return state.answers.count > 1 ? state.answers.removeFirst() : state.answers[0]
        }
        if answer.isEmpty {
            // Until the other side has had enough.
            while read(connection.number, &chunk, chunk.count) > 0 {}
            return
        }
        let bytes = Array("HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
        _ = write(connection.number, bytes, bytes.count)
        _ = shutdown(connection.number, CInt(SHUT_WR))
        // Closing with bytes unread would be a reset.
        while read(connection.number, &chunk, chunk.count) > 0 {}
    }

    private static func isWhole(_ text: String) -> Bool {
        guard let end = text.firstRange(of: "\r\n\r\n") else { return false }
        let length = text[..<end.lowerBound].firstMatch(of: #/(?i)content-length: (\d+)/#).flatMap { Int($0.1) } ?? 0
        return text[end.upperBound...].utf8.count >= length
    }

    deinit {
        // Ends the thread, which waits for a connection.
        shutdown(listener.number, CInt(SHUT_RDWR))
    }
}
