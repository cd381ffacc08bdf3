import Glibc
import LinuxPrimitives
import NetworkLab
import Synchronization

/// A small name server in a namespace, at port 53 of all its addresses: it answers every question in the same way.
final class NameServer: Sendable {
    enum Answer: Sendable {
        /// This address to each question for an IPv4 one, none to the others.
        case address([UInt8])
        /// A response code: 2 is SERVFAIL, 3 NXDOMAIN, 5 REFUSED.
        case code(UInt8)
        /// Cut off: the bit TC.
        case truncated
        case silence
    }

    private let socket: LabDescriptor
    private let stop: LabDescriptor
    private let counter = Atomic<Int>(0)
    private let asked = Locked<Set<String>>([])

    /// How many questions came.
    var questions: Int { counter.load(ordering: .acquiring) }

    /// The names it was asked for.
    var names: Set<String> { asked.withLock { $0 } }

    init(_ answer: Answer, in namespace: LabNamespace) throws {
        socket = try namespace.perform { try Self.open() }
        var ends: [CInt] = [-1, -1]
        try check("pipe", pipe(&ends))
        let requested = LabDescriptor(ends[0])
        stop = LabDescriptor(ends[1])
        let number = LabDescriptor(dup(socket.number))
        Task.detached { [weak self] in
            _ = try? await LabThread.detached { [weak self] in
                var events = [number.number, requested.number].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                while poll(&events, 2, -1) >= 0, events[1].revents == 0 {
                    self?.counter.add(1, ordering: .acquiringAndReleasing)
                    self?.answerOne(number.number, answer)
                }
            }
        }
    }

    deinit {
        stop.close()
    }

    private static func open() throws -> LabDescriptor {
        let descriptor = LabDescriptor(try check("socket", Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(53).bigEndian
        let code = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(descriptor.number, pointer, socklen_t(bytes.count))
        }
        try check("bind", code)
        return descriptor
    }

    private func answerOne(_ descriptor: CInt, _ answer: Answer) {
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var question = [UInt8](repeating: 0, count: 512)
        withUnsafeMutableBytes(of: &peer) { bytes in
            let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            let count = recvfrom(descriptor, &question, question.count, 0, pointer, &length)
            guard count > 12 else { return }
            let name = Self.name(question)
            asked.withLock { _ = $0.insert(name) }
            guard let answer = Self.message(Array(question[..<count]), answer) else { return }
            _ = sendto(descriptor, answer, answer.count, 0, pointer, length)
        }
    }

    /// The name in a question, with dots between its labels.
    private static func name(_ question: [UInt8]) -> String {
        var labels: [String] = []
        var place = 12
        while place < question.count, question[place] != 0 {
            labels.append(String(decoding: question[(place + 1)...].prefix(Int(question[place])), as: UTF8.self))
            place += Int(question[place]) + 1
        }
        return labels.joined(separator: ".")
    }

    /// The question itself, without additional records, and what is answered to it (RFC 1035).
    private static func message(_ question: [UInt8], _ answer: Answer) -> [UInt8]? {
        var end = 12
        while end < question.count, question[end] != 0 { end += Int(question[end]) + 1 }
        end += 5
        guard end <= question.count else { return nil }
        var message = Array(question[..<end])
        message[2] = 0x81
        message[3] = 0x80
        for index in 6..<12 { message[index] = 0 }
        switch answer {
        case .silence: return nil
        case .code(let code): message[3] |= code
        case .truncated: message[2] |= 0x02
        case .address(let address):
            guard question[end - 3] == 1 else { break }
            message[7] = 1
            message += [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4] + address
        }
        return message
    }
}
