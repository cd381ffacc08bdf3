/// What bytes from a server mean for the question that was asked. Resolvers hide most of this; a probe must see it.
package enum DNSAnswer: Hashable, Sendable {
    case whole(DNSMessage)
    /// TC: the same question over TCP gets all.
    case truncated(DNSMessage)
    /// Another number, name or type: of an earlier question, or of somebody who guesses.
    case mismatched
    case malformed(DNSFault)

    package init(_ bytes: [UInt8], to question: DNSQuestion) {
        guard Self.isMeant(bytes, for: question) else {
            self = .mismatched
            return
        }
        do throws(DNSFault) {
            let message = try DNSMessage(bytes)
            // A server that does not understand the question need not repeat it.
            let isRefusal = message.questions.isEmpty && message.code != .noError && message.flags.contains(.response)
            if !message.answers(question) && !(isRefusal && message.identifier == question.identifier) {
                self = .mismatched
            } else {
                self = message.flags.contains(.truncated) ? .truncated(message) : .whole(message)
            }
        } catch {
            self = .malformed(error)
        }
    }

    /// Whether bytes are a response with the question's number, which nobody else knows. What is not may be of any stranger, and is not read
    /// any further.
    package static func isMeant(_ bytes: [UInt8], for question: DNSQuestion) -> Bool {
        bytes.count >= 3 && bytes[0] == UInt8(question.identifier >> 8) && bytes[1] == UInt8(question.identifier & 0xff)
            && bytes[2] & 0x80 != 0
    }

    /// Whether it can be read, and answers the question: then no other is waited for.
    package var isReadable: Bool {
        switch self {
        case .whole, .truncated: true
        case .mismatched, .malformed: false
        }
    }

    package var isTruncated: Bool { if case .truncated = self { true } else { false } }
}

/// Messages of DNS in a stream, each behind its length in two bytes (RFC 1035, section 4.2.2).
package struct DNSStream: Sendable {
    private var buffer: [UInt8] = []

    package init() {}

    /// - Returns: nil if the message is longer than a length can say.
    package static func frame(_ message: [UInt8]) -> [UInt8]? {
        UInt16(exactly: message.count).map { [UInt8($0 >> 8), UInt8($0 & 0xff)] + message }
    }

    /// Whether a stream that began with these bytes has its first message. Reads no more than the length.
    package static func isWhole(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 2 && bytes.count - 2 >= Int(bytes[0]) << 8 | Int(bytes[1])
    }

    /// Takes what has arrived, and gives the messages that are whole by now. What is kept is at most one message, 65,537 bytes.
    package mutating func receive(_ bytes: some Sequence<UInt8>) -> [[UInt8]] {
        buffer += bytes
        var (messages, start): ([[UInt8]], Int) = ([], 0)
        while buffer.count - start >= 2 {
            let length = Int(buffer[start]) << 8 | Int(buffer[start + 1])
            guard buffer.count - start - 2 >= length else { break }
            messages.append(Array(buffer[(start + 2)..<(start + 2 + length)]))
            start += 2 + length
        }
        buffer.removeFirst(start)
        return messages
    }
}
