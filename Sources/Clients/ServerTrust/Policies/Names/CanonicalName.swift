import SwiftASN1
import X509

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
