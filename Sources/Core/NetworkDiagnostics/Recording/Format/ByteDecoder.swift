/// Reads what a `ByteEncoder` wrote. Whatever is cut off or out of range throws and never traps.
struct ByteDecoder {
    /// The bytes are not what they should be.
    struct Malformed: Error {}

    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func byte() throws(Malformed) -> UInt8 {
        guard let byte = rest.popFirst() else { throw Malformed() }
        return byte
    }

    mutating func number() throws(Malformed) -> UInt64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let byte = try byte()
            let bits = UInt64(byte & 0x7f)
            guard (bits << shift) >> shift == bits else { throw Malformed() }
            number |= bits << shift
            if byte & 0x80 == 0 { return number }
        }
        throw Malformed()
    }

    /// A number that must fit.
    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) throws(Malformed) -> Number {
        guard let number = Number(exactly: try number()) else { throw Malformed() }
        return number
    }

    mutating func duration() throws(Malformed) -> Duration {
        .nanoseconds(try number(Int64.self))
    }

    mutating func flag() throws(Malformed) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw Malformed()
        }
    }

    mutating func block() throws(Malformed) -> [UInt8] {
        let count = try number(Int.self)
        guard count <= rest.count else { throw Malformed() }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() throws(Malformed) -> String {
        let bytes = try block()
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed() }
        return text
    }

    /// Everything up to the end.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}
