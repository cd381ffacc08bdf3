import NetworkLab

/// A DNS question (RFC 1035), built without the code under test.
struct PlainQuestion {
    private static let identifier: [UInt8] = [0x4c, 0x61]
    let bytes: [UInt8]

    /// Creates a question for the addresses of a name, with the type of the family.
    init(_ name: String, _ family: Family) {
        let labels = name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        bytes =
            Self.identifier + [1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + labels + [0, 0, family == .ipv4 ? 1 : 28, 0, 1]
    }

    /// Returns the meaning of an answer; nil for one that no name server sends.
    func meaning(of answer: PlainPackets.Answer) -> Fact.Name? {
        switch answer {
        case .silence: return .silent
        case .refused: return .closed
        case .unsent: return .unsent
        case .bytes(let message):
            guard message.count >= bytes.count, Array(message.prefix(2)) == Self.identifier, message[2] & 0x80 != 0,
                Array(message[12..<bytes.count]) == Array(bytes[12...])
            else { return .nonsense }
            if message[2] & 0x02 != 0 { return .truncated }
            let (code, count) = (Int(message[3] & 0x0f), Int(message[7]))
            if code != 0 { return .code(code) }
            // A compressed name, type, class and lifetime have twelve bytes. The address follows.
            let size = 12 + (bytes[bytes.count - 3] == 1 ? 4 : 16)
            return message.count >= bytes.count + count * size ? .addresses(count) : .nonsense
        default: return nil
        }
    }
}
