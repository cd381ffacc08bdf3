import NetworkReachability

/// Numbers nobody can guess, for questions whose answers must be meant for us. Tests give their own.
struct Nonce: Sendable {
    private let number: @Sendable () -> UInt64

    init(_ number: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }) {
        self.number = number
    }

    /// The identifier of a DNS question.
    var identifier: UInt16 { UInt16(truncatingIfNeeded: number()) }

    /// What an anchor is to repeat: 128 bits in hexadecimal.
    var challenge: String { hexadecimal(digits: 16) + hexadecimal(digits: 16) }

    /// A name below `.invalid`, which nobody has (RFC 6761).
    var inventedName: DNSName? { DNSName(hexadecimal(digits: 10) + ".invalid") }

    private func hexadecimal(digits: Int) -> String {
        let text = String(number(), radix: 16)
        return (String(repeating: "0", count: digits) + text).suffix(digits).description
    }
}
