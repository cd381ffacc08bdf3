import ServerTrust
import SwiftASN1
import X509

extension TrustCase {
    /// Equivalent names in other encodings, and unreadable constraints. In doubt a name is excluded.
    static let constraintForms: [TrustCase] = excludedTexts + permittedTexts + hosts(excluded: unreadableHosts) + others

    /// "Evil Corp" is excluded. The server's organisation is one of these texts.
    private static let excludedTexts: [TrustCase] = [
        ("in UTF8String", text(12, Array("Evil Corp".utf8)), "Evil Corp"),
        ("in BMPString", text(30, wide("Evil Corp", 2)), "Evil Corp"),
        ("in UniversalString", text(28, wide("Evil Corp", 4)), "Evil Corp"),
        ("in TeletexString", text(20, Array("Evil Corp".utf8)), "Evil Corp"),
        ("in IA5String", text(22, Array("Evil Corp".utf8)), "Evil Corp"),
        ("in VisibleString", text(26, Array("Evil Corp".utf8)), "Evil Corp"),
        ("in different letter case, in BMPString", text(30, wide("eVIL cORP", 2)), "eVIL cORP"),
        ("with more blanks", text(12, Array("  Evil \t  Corp ".utf8)), "\\ \\ Evil \\09  Corp\\ "),
        ("with a no-break space", text(12, Array("Evil\u{a0}Corp".utf8)), "Evil\u{a0}Corp"),
        ("with invisible characters", text(12, Array("E\u{200b}vil Corp".utf8)), "E\\e2\\80\\8bvil Corp"),
        ("in full-width letters", text(12, Array("Ｅvil Corp".utf8)), "Ｅvil Corp"),
        ("in a BMPString with a missing byte", text(30, Array(wide("Evil Corp", 2).dropLast())), nil),
        ("in bytes that are not text", text(4, Array("Evil Corp".utf8)), nil),
    ].map { title, organisation, readable in
        TrustCase("an organisation that is excluded, \(title)") {
            let encoded = Encoded.der(ASN1Any(organisation.value)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                .joined()
            $0.constrain(excluded: [evil], names: [.dnsName(World.host), name(organisation)])
            if title.hasPrefix("with a no-break") || title.hasPrefix("with invisible") || title.hasPrefix("in full") {
                $0.openSSL = .differs("RFC 4518, 2: OpenSSL handles only blanks and case of ASCII")
            }
            $0.refuse(excluded("O=\(readable ?? "#" + encoded)"))
        }
    }

    private static let permittedTexts: [TrustCase] = [
        TrustCase("an organisation that is permitted, in BMPString") {
            $0.constrain(
                permitted: [evil, organisation("Forge")],
                names: [.dnsName(World.host), name(text(30, wide("EVIL  corp", 2)))]
            )
            $0.host = World.host
        },
        TrustCase("an organisation that is permitted, in bytes that are not text") {
            let value = text(4, Array("Evil Corp".utf8))
            $0.constrain(permitted: [evil, organisation("Forge")], names: [.dnsName(World.host), name(value)])
            $0.refuse(excluded("O=#04094576696c20436f7270"))
        },
        TrustCase("an organisation that is not excluded, beyond ASCII") {
            $0.constrain(excluded: [evil], names: [.dnsName(World.host), name(text(12, Array("Bücher".utf8)))])
        },
        TrustCase("an organisation that is not excluded, in a TeletexString beyond ASCII") {
            $0.constrain(excluded: [evil], names: [.dnsName(World.host), name(text(20, [0x42, 0xfc]))])
            $0.openSSL = .differs("the characters of a TeletexString are ambiguous")
            $0.refuse(excluded("O=Bü"))
        },
    ]

    private static let unreadableHosts = [
        "*.evil.example", ".", "evil..example", "-evil.example", "evil example", "..", "1.2.3.4",
    ]

    private static func hosts(excluded texts: [String]) -> [TrustCase] {
        texts.map { text in
            TrustCase("an invalid excluded name: \"\(text)\"") {
                $0.constrain(excluded: [.dnsName(text)], names: [.dnsName(World.host)])
                $0.openSSL = .differs("an unreadable exclusion excludes")
                $0.refuse(excluded(World.host))
            }
        }
    }

    private static let others: [TrustCase] = [
        TrustCase("an invalid permitted name") {
            $0.constrain(permitted: [.dnsName("*.example.org")], names: [.dnsName(World.host)])
            $0.refuse(excluded(World.host))
        },
        TrustCase("an excluded range with a non-contiguous mask") {
            $0.constrain(excluded: [range([10, 0, 0, 0, 255, 0, 255, 0])], names: [address(192, 0, 2, 7)])
            $0.host = "192.0.2.7"
            $0.openSSL = .differs("RFC 5280, 4.2.1.10: a mask is as in RFC 4632")
            $0.refuse(excluded("address 192.0.2.7"))
        },
        TrustCase("a permitted range with a non-contiguous mask") {
            $0.constrain(permitted: [range([192, 0, 2, 0, 255, 0, 255, 0])], names: [address(192, 0, 2, 7)])
            $0.host = "192.0.2.7"
            $0.openSSL = .differs("RFC 5280, 4.2.1.10: a mask is as in RFC 4632")
            $0.refuse(excluded("address 192.0.2.7"))
        },
        TrustCase("an excluded range that is not an address and a mask") {
            $0.constrain(excluded: [range([10, 0, 0, 0, 255])], names: [address(192, 0, 2, 7)])
            $0.host = "192.0.2.7"
            $0.refuse(excluded("address 192.0.2.7"))
        },
        TrustCase("a mask that ends within a byte") {
            $0.constrain(permitted: [range([192, 0, 2, 0, 255, 255, 254, 0])], names: [address(192, 0, 3, 7)])
            $0.host = "192.0.3.7"
        },
        TrustCase("an address that is excluded, as one of IPv6") {
            let bytes: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 7]
            $0.constrain(
                excluded: [range([192, 0, 2, 0, 255, 255, 255, 0])],
                names: [.ipAddress(.init(contentBytes: bytes[...]))]
            )
            $0.host = "::ffff:192.0.2.7"
            $0.openSSL = .differs("a client connects to the excluded address")
            $0.refuse(excluded("address ::ffff:192.0.2.7"))
        },
        TrustCase("a mailbox that is excluded, in different letter case") {
            $0.constrain(
                excluded: [.rfc822Name("evil@example.com")],
                names: [.dnsName(World.host), .rfc822Name("EVIL@Example.com")]
            )
            $0.openSSL = .differs("its host may be case-insensitive")
            $0.refuse(excluded("EVIL@Example.com"))
        },
        TrustCase("a mailbox that is excluded, in quotes") {
            $0.constrain(
                excluded: [.rfc822Name("evil@example.com")],
                names: [.dnsName(World.host), .rfc822Name("\"evil\"@example.com")]
            )
            $0.openSSL = .differs("RFC 5321, 4.1.2: the quotes have no meaning")
            $0.refuse(excluded("\"evil\"@example.com"))
        },
        TrustCase("an invalid excluded mailbox") {
            $0.constrain(excluded: [.rfc822Name("")], names: [.dnsName(World.host), .rfc822Name("me@example.org")])
            $0.openSSL = .differs("an unreadable exclusion excludes")
            $0.refuse(excluded("me@example.org"))
        },
        TrustCase("an invalid excluded URI") {
            $0.constrain(
                excluded: [.uniformResourceIdentifier("")],
                names: [.dnsName(World.host), .uniformResourceIdentifier("https://example.org/")]
            )
            $0.openSSL = .differs("an unreadable exclusion excludes")
            $0.refuse(excluded("https://example.org/"))
        },
        TrustCase("a URI with a backslash, which some clients read as a slash") {
            let identifier = "https://evil.example\\@example.org/"
            $0.constrain(
                excluded: [.uniformResourceIdentifier("evil.example")],
                names: [.dnsName(World.host), .uniformResourceIdentifier(identifier)]
            )
            $0.openSSL = .differs("its host is ambiguous")
            $0.refuse(excluded(identifier))
        },
        TrustCase("an unreadable exclusion of another form has no effect") {
            $0.constrain(excluded: [.rfc822Name("."), .uniformResourceIdentifier(".")], names: [.dnsName(World.host)])
        },
    ]

    private static func excluded(_ name: String) -> TrustFailure {
        .nameConstraints(subject: "address", name: name, constrainedBy: "Constrained")
    }

    private static let evil = organisation("Evil Corp")

    private static func name(_ attribute: RelativeDistinguishedName.Attribute) -> GeneralName {
        .directoryName(DistinguishedName([RelativeDistinguishedName(attribute)]))
    }

    /// Returns an organizationName whose value has a tag.
    private static func text(_ tag: UInt8, _ bytes: [UInt8]) -> RelativeDistinguishedName.Attribute {
        guard let value = try? ASN1Any(derEncoded: Encoded.node(tag, bytes)) else { fatalError("tag \(tag)") }
        return RelativeDistinguishedName.Attribute(type: .RDNAttributeType.organizationName, value: value)
    }

    /// Returns a text with a number of bytes per character.
    private static func wide(_ text: String, _ width: Int) -> [UInt8] {
        text.utf8.flatMap { Array(repeating: 0, count: width - 1) + [$0] }
    }
}
