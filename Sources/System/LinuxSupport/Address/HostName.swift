@_spi(_Unicode) import Swift

/// The grammar of host names (RFC 952, RFC 1123), with letters of every script (RFC 5891).
package enum HostName {
    /// Whether `text` is a host name for the name service. Labels consist of letters, digits, `-` and `_`. As encoded,
    /// a label has at most 63 bytes and a name at most 253 bytes. A final dot is allowed. URLs, ports, spaces, the
    /// empty string and numbers such as `10.1` are invalid.
    package static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= 1024, let ascii = IDNA.ascii(text) else { return false }
        var labels = ascii.split(at: ".", omittingEmptySubsequences: false)
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, labels.reduce(labels.count - 1, { $0 + $1.utf8.count }) <= 253 else {
            return false
        }
        return labels.allSatisfy(isLabel) && !last.allSatisfy(\.isNumber)
    }

    /// Returns the name in ASCII for the name service. In the C locale the C library does not encode names (AI_IDN).
    package static func encoded(_ text: String) -> String { IDNA.ascii(text) ?? text }

    /// True if the name can be encoded in ASCII.
    package static func isEncodable(_ text: String) -> Bool { IDNA.ascii(text) != nil }

    /// The name of this machine; nil if it cannot be read.
    package static var ofMachine: String? { TextFile.read("/proc/sys/kernel/hostname")?.filter { !$0.isWhitespace } }

    private static func isLabel(_ label: Substring) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" || $0 == "_" }
    }
}

/// The reason why a text is not a host name or an address.
package enum HostError: Error, Hashable {
    /// The text is neither a host name nor an address literal.
    case invalid(String)
    /// The text is a link-local IPv6 address without a zone. It is ambiguous without an interface.
    case zoneRequired(String)

    /// Checks the name or the address literal of a host.
    package static func check(_ host: String) throws(HostError) {
        if let address = AddressLiteral(host) {
            if address.wire.needsZone, address.zone == nil { throw .zoneRequired(address.wire.description) }
        } else if !HostName.isValid(host) {
            throw .invalid(host)
        }
    }
}

extension HostError: CustomStringConvertible {
    /// The reason, followed by a hint.
    package var description: String {
        switch self {
        case .invalid(let text) where !HostName.isEncodable(text):
            "\"\(text.secretsMasked.printable)\" cannot be encoded as a host name (IDNA): labels of other scripts have letters, digits and"
                + " hyphens only; give it as xn-- labels if it has such a form"
        case .invalid(let text):
            "\"\(text.secretsMasked.printable)\" is neither a host name nor an address; use a name such as example.org or an address such as"
                + " 192.0.2.1 or 2001:db8::1, without scheme, port or brackets"
        case .zoneRequired(let text):
            "\(text.printable) is a link-local address and requires an interface; use \(text.printable)%eth0, for example"
        }
    }
}

/// An encoder of international host names as ASCII (RFC 5891). It supports the common part of the mapping of UTS 46:
/// case, composition and dots.
///
/// Names that require the rest of the mapping tables, such as full-width letters, are rejected. They are not host names
/// and match no certificate.
package enum IDNA {
    /// Returns the name in lower case with A-labels; nil if it cannot be encoded.
    package static func ascii(_ text: String) -> String? {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        let dotted = String(String.UnicodeScalarView(text.unicodeScalars.map { dots.contains($0) ? "." : $0 }))
        var labels: [String] = []
        for label in dotted.split(at: ".", omittingEmptySubsequences: false) {
            guard let encoded = encode(label) else { return nil }
            labels.append(encoded)
        }
        return labels.joined(separator: ".")
    }

    /// The ideographic, full-width and half-width full stops (UTS 46, section 2.3).
    private static let dots: Set<Unicode.Scalar> = ["\u{3002}", "\u{ff0e}", "\u{ff61}"]

    private static func encode(_ label: Substring) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return label.lowercased() }
        let scalars = Array(label.lowercased()._nfc)
        guard let first = scalars.first, !isMark(first), scalars.allSatisfy(isAllowed) else { return nil }
        // Hyphens in the third and fourth position are reserved for A-labels.
        guard !(scalars.count >= 4 && scalars[2] == "-" && scalars[3] == "-") else { return nil }
        guard first != "-", scalars.last != "-" else { return nil }
        if scalars.allSatisfy(\.isASCII) { return String(String.UnicodeScalarView(scalars)) }
        return Punycode.encode(scalars).map { "xn--" + $0 }
    }

    /// True for letters, marks and digits that compatibility mapping does not change. `ß` and the final sigma are valid
    /// since IDNA 2008.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "-" || scalar == "\u{df}" || scalar == "\u{3c2}" { return true }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .nonspacingMark, .spacingMark, .decimalNumber:
            return !scalar.properties.changesWhenNFKCCaseFolded
        default:
            return false
        }
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}

/// The encoding of Unicode as letters, digits and hyphens (RFC 3492).
enum Punycode {
    private static let base = 36
    private static let minimum = 1
    private static let maximum = 26
    private static let skew = 38
    private static let damp = 700
    private static let firstBias = 72
    private static let firstCode = 128

    /// Returns the encoded label without `xn--`; nil if it is too long for a host name.
    static func encode(_ scalars: [Unicode.Scalar]) -> String? {
        guard scalars.count <= 63 else { return nil }
        var output = scalars.filter(\.isASCII).map { Character($0) }
        let basicCount = output.count
        var handled = basicCount
        if basicCount > 0 { output.append("-") }
        var code = firstCode
        var delta = 0
        var bias = firstBias
        while handled < scalars.count {
            // A scalar remains, because not all scalars are handled.
            guard let next = scalars.lazy.map({ Int($0.value) }).filter({ $0 >= code }).min() else { return nil }
            delta += (next - code) * (handled + 1)
            code = next
            for scalar in scalars {
                if scalar.value < code { delta += 1 }
                guard scalar.value == code else { continue }
                output.append(contentsOf: digits(delta, bias: bias))
                bias = adapt(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            code += 1
        }
        return String(output)
    }

    /// Returns a number as digits of variable weight (RFC 3492, 6.3).
    private static func digits(_ number: Int, bias: Int) -> [Character] {
        var digits: [Character] = []
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, minimum), maximum)
            if rest < threshold { break }
            digits.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        return digits + [digit(rest)]
    }

    private static func digit(_ value: Int) -> Character {
        Character(Unicode.Scalar(UInt8(value < 26 ? value + 97 : value - 26 + 48)))
    }

    /// Returns the new bias (RFC 3492, 6.1).
    private static func adapt(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var delta = isFirst ? delta / damp : delta / 2
        delta += delta / count
        var steps = 0
        while delta > (base - minimum) * maximum / 2 {
            delta /= base - minimum
            steps += base
        }
        return steps + (base - minimum + 1) * delta / (delta + skew)
    }
}
