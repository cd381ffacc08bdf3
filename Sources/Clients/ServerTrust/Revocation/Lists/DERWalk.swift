import SwiftASN1

/// Goes through what stands in DER, element by element (X.690, 8.1 and 10.1), and makes nothing of what it passes by.
///
/// The parser of SwiftASN1 reads all that is nested in a document before anything is known of it, which takes thirty times its size. For
/// what is long and not yet verified.
struct DERWalk {
    struct Element {
        let tag: UInt8
        /// All of it.
        let encoded: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>

        /// For what is short: parsed as a whole.
        func parsed(_ name: String) throws -> ASN1Node {
            let limit = 64 << 10
            guard encoded.count <= limit else {
                throw ASN1Error.invalidASN1Object(reason: "\(name) has more than \(limit) bytes")
            }
            return try DER.parse(encoded)
        }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// The tag of the next element; nil at the end.
    var nextTag: UInt8? { rest.first }

    /// The next element; nil at the end.
    mutating func next() throws -> Element? {
        guard let tag = rest.first else { return nil }
        guard tag & 0x1f != 0x1f, rest.count >= 2 else { throw Self.broken("an element is cut off, or has a long tag") }
        var start = rest.startIndex + 2
        var count = Int(rest[start - 1])
        if count >= 0x80 {
            let digits = count & 0x7f
            guard (1...4).contains(digits), rest.endIndex - start >= digits else {
                throw Self.broken("a length is none")
            }
            count = rest[start..<start + digits].reduce(0) { $0 << 8 | Int($1) }
            // The shortest form is the only one.
            guard count >= 0x80, digits == 1 || count >> (8 * (digits - 1)) > 0 else {
                throw Self.broken("a length is not in its shortest form")
            }
            start += digits
        }
        guard rest.endIndex - start >= count else { throw Self.broken("an element is cut off") }
        let element = Element(tag: tag, encoded: rest[..<(start + count)], content: rest[start..<start + count])
        rest = rest[(start + count)...]
        return element
    }

    /// The next element, which must have this tag.
    mutating func next(_ tag: UInt8, _ name: String) throws -> Element {
        guard let element = try next(), element.tag == tag else { throw Self.broken("there is no \(name)") }
        return element
    }

    /// Nothing more may follow.
    func end() throws {
        guard rest.isEmpty else { throw Self.broken("there is more than belongs there") }
    }

    private static func broken(_ reason: String) -> ASN1Error { .invalidASN1Object(reason: reason) }
}
