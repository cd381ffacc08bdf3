import LinuxSupport
import SwiftASN1
package import X509

/// A directory name, read once to be compared with many (RFC 5280, 7.1).
struct CanonicalName {
    private struct Attribute {
        let type: ASN1ObjectIdentifier
        let text: CanonicalText
    }

    /// In each part the attributes in one order, whatever order they were encoded in.
    private let parts: [[Attribute]]

    init(_ name: DistinguishedName) {
        parts = name.map { part in
            let attributes = part.map { Attribute(type: $0.type, text: CanonicalText($0.value)) }
            guard attributes.count > 1 else { return attributes }
            return attributes.map { (($0.type.description, $0.text.text), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Whether the first parts of this name are the other name.
    func contained(in other: CanonicalName) -> Containment {
        guard parts.count >= other.parts.count else { return .outside }
        var result = Containment.inside
        for (part, otherPart) in zip(parts, other.parts) {
            switch Self.compared(part, otherPart) {
            case .inside: continue
            case .outside: return .outside
            case .doubtful: result = .doubtful
            }
        }
        return result
    }

    /// Inside is the same. Where one text of several is in doubt its place among them is too, and with it the others'.
    private static func compared(_ part: [Attribute], _ other: [Attribute]) -> Containment {
        guard part.count == other.count, zip(part, other).allSatisfy({ $0.type == $1.type }) else { return .outside }
        let comparisons = zip(part, other).map { $0.text.compared(with: $1.text) }
        if comparisons.allSatisfy({ $0 == .inside }) { return .inside }
        let isCertain = (part + other).allSatisfy(\.text.isCertain)
        return comparisons.contains(.doubtful) || part.count > 1 && !isCertain ? .doubtful : .outside
    }
}

/// A text of a directory name as it is compared (RFC 5280, 7.1; RFC 4518, 2): whatever its string type, in lower case, blanks at the
/// ends gone and those between single, invisible characters gone.
///
/// The compatibility mapping (NFKC) is not known here. A text that it might change is still equal to the same text, but nobody can
/// say that it differs from another.
struct CanonicalText {
    /// Compared by canonical equivalence, as texts of Swift are. The bytes in hexadecimal where they are no text.
    let text: String
    /// Whether a different text is another one.
    let isCertain: Bool

    init(_ value: RelativeDistinguishedName.Attribute.Value) {
        let decoded = AttributeText(value)
        guard let original = decoded.text else {
            text = decoded.readable
            isCertain = false
            return
        }
        var folded = ""
        var isBlankBefore = true
        for scalar in original.unicodeScalars {
            let properties = scalar.properties
            if properties.isWhitespace {
                if !isBlankBefore { folded.unicodeScalars.append(" ") }
                isBlankBefore = true
            } else if !properties.isDefaultIgnorableCodePoint, properties.generalCategory != .control,
                properties.generalCategory != .format
            {
                folded += properties.lowercaseMapping
                isBlankBefore = false
            }
        }
        if folded.unicodeScalars.last == " " { folded.unicodeScalars.removeLast() }
        text = folded
        isCertain =
            decoded.isExact
            && folded.unicodeScalars.allSatisfy { $0.isASCII || !$0.properties.changesWhenNFKCCaseFolded }
    }

    /// Inside is the same text, outside another.
    func compared(with other: CanonicalText) -> Containment {
        if text == other.text { return .inside }
        return isCertain && other.isCertain ? .outside : .doubtful
    }
}

/// The text of one attribute of a directory name, of whatever string type of X.520 (RFC 5280, 4.1.2.4).
struct AttributeText {
    /// Nil if it is of no such type, or no text of its type.
    let text: String?
    /// Whether the type says which characters these are. Beyond ASCII a TeletexString (T.61) is read as ISO 8859-1, as everybody does
    /// and nobody has promised.
    let isExact: Bool
    /// What to show of it: the text, else `#` and the bytes of its encoding in hexadecimal (RFC 4514, 2.4).
    let readable: String

    init(_ value: RelativeDistinguishedName.Attribute.Value) {
        if let text = String(value) {
            self.text = text
            isExact = true
            readable = text
            return
        }
        let encoded = Self.encoded(value)
        let text = Self.decoded(encoded)
        self.text = text
        isExact = text?.utf8.allSatisfy { $0 < 0x80 } == true || encoded.first != Self.teletex
        readable = text ?? "#" + encoded.hexadecimal()
    }

    private static let teletex: UInt8 = 20

    private static func encoded(_ value: RelativeDistinguishedName.Attribute.Value) -> [UInt8] {
        var serializer = DER.Serializer()
        // What was read can be written.
        try? serializer.serialize(ASN1Any(value))
        return serializer.serializedBytes
    }

    private static func decoded(_ encoded: [UInt8]) -> String? {
        guard let node = try? DER.parse(encoded), case .primitive(let bytes) = node.content,
            node.identifier.tagClass == .universal
        else { return nil }
        switch node.identifier.tagNumber {
        case 12: return String(validating: bytes, as: UTF8.self)
        // NumericString, PrintableString, IA5String and VisibleString: with characters that their type does not have they are still
        // texts to whoever reads them.
        case 18, 19, 22, 26: return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case UInt(teletex): return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        case 28: return scalars(bytes, width: 4).flatMap { String(validating: $0, as: UTF32.self) }
        case 30:
            return scalars(bytes, width: 2).flatMap { units in
                String(validating: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
            }
        default: return nil
        }
    }

    /// Numbers of so many bytes each, the highest first; nil if bytes are left over.
    private static func scalars(_ bytes: ArraySlice<UInt8>, width: Int) -> [UInt32]? {
        guard bytes.count % width == 0 else { return nil }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: width).map { start in
            bytes[start..<start + width].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

extension DistinguishedName {
    /// `CN=Root,O=Forge`, the most specific first (RFC 4514), whatever string types its texts have.
    package var readable: String {
        reversed().map { part in
            part.map { "\(Self.key($0.type))=\(Self.escaped(AttributeText($0.value)))" }.joined(separator: "+")
        }.joined(separator: ",")
    }

    private static func key(_ type: ASN1ObjectIdentifier) -> String {
        switch type {
        case .RDNAttributeType.commonName: "CN"
        case .RDNAttributeType.countryName: "C"
        case .RDNAttributeType.localityName: "L"
        case .RDNAttributeType.stateOrProvinceName: "ST"
        case .RDNAttributeType.organizationName: "O"
        case .RDNAttributeType.organizationalUnitName: "OU"
        case .RDNAttributeType.streetAddress: "STREET"
        case .RDNAttributeType.domainComponent: "DC"
        case .RDNAttributeType.emailAddress: "E"
        default: type.description
        }
    }

    /// With a backslash before what would mean something else (RFC 4514, 2.4).
    private static func escaped(_ value: AttributeText) -> String {
        guard let text = value.text else { return value.readable }
        let blanks = text.prefix { $0 == " " || $0 == "#" }
        let end = text.dropFirst(blanks.count).reversed().prefix { $0 == " " }.count
        let middle = text.dropFirst(blanks.count).dropLast(end).map { ",+\"\\<>;".contains($0) ? "\\\($0)" : "\($0)" }
        let whole = blanks.map { "\\\($0)" } + middle + Array(repeating: "\\ ", count: end)
        return whole.joined().visible
    }
}

extension String {
    /// Characters that nobody sees, or that move the terminal's cursor, as the bytes of their UTF-8 in hexadecimal, each behind a
    /// backslash (RFC 4514, 2.4).
    var visible: String {
        guard unicodeScalars.contains(where: \.isHidden) else { return self }
        return unicodeScalars.map { scalar in
            guard scalar.isHidden else { return String(scalar) }
            return scalar.utf8.map { "\\" + $0.hexadecimal }.joined()
        }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var isHidden: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate: true
        default: false
        }
    }
}
