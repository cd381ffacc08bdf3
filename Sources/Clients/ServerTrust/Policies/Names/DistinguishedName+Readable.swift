import SwiftASN1
package import X509

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
            return String(scalar).utf8.map { "\\" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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
