import ServerTrust
import SwiftASN1
import X509

extension TrustCase {
    static let constraints: [TrustCase] = [
        constrained("a name that is permitted", permitted: [.dnsName("example.org")]),
        constrained(
            "a name below one that is permitted",
            permitted: [.dnsName("example.org")],
            leaf: "a.b.example.org"
        ),
        constrained(
            "a name that is not permitted",
            permitted: [.dnsName("example.com")],
            refused: "example.org"
        ),
        constrained(
            "a name that ends in the letters of one that is permitted",
            permitted: [.dnsName("ample.org")],
            refused: "example.org"
        ),
        constrained("a name that is excluded", excluded: [.dnsName("example.org")], refused: "example.org"),
        constrained(
            "a name below one that is excluded",
            excluded: [.dnsName("example.org")],
            leaf: "a.example.org",
            refused: "a.example.org"
        ),
        constrained("a name beside one that is excluded", excluded: [.dnsName("example.com")]),
        constrained("all names are excluded", excluded: [.dnsName("")], refused: "example.org"),
        constrained(
            "a constraint with a dot in front is below the name",
            permitted: [.dnsName(".example.org")],
            leaf: "www.example.org"
        ),
        constrained(
            "a constraint with a dot in front is not the name itself",
            permitted: [.dnsName(".example.org")],
            refused: "example.org"
        ),
        constrained(
            "a wildcard that could be an excluded name",
            excluded: [.dnsName("secret.example.org")],
            leaf: "*.example.org",
            host: "www.example.org",
            refused: "*.example.org",
            openSSL: .differs("OpenSSL compares the star as a character")
        ),
        constrained(
            "a wildcard below a name that is permitted",
            permitted: [.dnsName("example.org")],
            leaf: "*.example.org",
            host: "www.example.org"
        ),
        constrained(
            "a wildcard wider than the name that is permitted",
            permitted: [.dnsName("www.example.org")],
            leaf: "*.example.org",
            host: "www.example.org",
            refused: "*.example.org"
        ),
        constrained("upper and lower case", permitted: [.dnsName("EXAMPLE.Org")]),
        TrustCase("an address that is permitted") {
            $0.constrain(permitted: [range([192, 0, 2, 0, 255, 255, 255, 0])], names: [address(192, 0, 2, 7)])
            $0.host = "192.0.2.7"
        },
        TrustCase("an address that is not permitted") {
            $0.constrain(permitted: [range([192, 0, 2, 0, 255, 255, 255, 0])], names: [address(192, 0, 3, 7)])
            $0.host = "192.0.3.7"
            $0.refuse(.nameConstraints(subject: "address", name: "address 192.0.3.7", constrainedBy: "Constrained"))
        },
        TrustCase("an address that is excluded") {
            $0.constrain(excluded: [range([0, 0, 0, 0, 0, 0, 0, 0])], names: [address(192, 0, 2, 7)])
            $0.host = "192.0.2.7"
            $0.refuse(.nameConstraints(subject: "address", name: "address 192.0.2.7", constrainedBy: "Constrained"))
        },
        TrustCase("a constraint on mail does not apply to a server") {
            $0.constrain(permitted: [.rfc822Name("example.com")], names: [.dnsName("example.org")])
        },
        TrustCase("a mail address that is not permitted") {
            $0.constrain(
                permitted: [.rfc822Name("example.com")],
                names: [.dnsName("example.org"), .rfc822Name("me@example.org")]
            )
            $0.refuse(.nameConstraints(subject: "address", name: "me@example.org", constrainedBy: "Constrained"))
        },
        TrustCase("a URI that is not permitted") {
            $0.constrain(
                permitted: [.uniformResourceIdentifier(".example.com")],
                names: [.dnsName("example.org"), .uniformResourceIdentifier("spiffe://example.org/a")]
            )
            $0.refuse(
                .nameConstraints(subject: "address", name: "spiffe://example.org/a", constrainedBy: "Constrained")
            )
        },
        TrustCase("a URI that is permitted") {
            $0.constrain(
                permitted: [.uniformResourceIdentifier(".example.org")],
                names: [.dnsName("example.org"), .uniformResourceIdentifier("spiffe://a.example.org/a")]
            )
        },
        TrustCase("an organisation that is permitted") {
            $0.constrain(permitted: [organisation("forge")], names: [.dnsName("example.org")])
        },
        TrustCase("an organisation that is not permitted") {
            $0.constrain(permitted: [organisation("Other")], names: [.dnsName("example.org")])
            $0.refuse(.nameConstraints(subject: "address", name: "CN=address,O=Forge", constrainedBy: "Constrained"))
        },
        TrustCase("an organisation that is excluded, in different letter case") {
            $0.constrain(excluded: [organisation("FORGE")], names: [.dnsName("example.org")])
            $0.refuse(.nameConstraints(subject: "address", name: "CN=address,O=Forge", constrainedBy: "Constrained"))
        },
        TrustCase("the root constrains") {
            let root = Blueprint.authority("Narrow Root")
                .with(\.constraints, NameConstraints(permittedSubtrees: [.dnsName("example.com")])).signed()
            let middle = Blueprint.authority("Wide").signed(by: root)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.trust(root)
            $0.refuse(.nameConstraints(subject: World.host, name: "example.org", constrainedBy: "Narrow Root"))
        },
        TrustCase("more constraints than can be compared") {
            let constraints = (0..<300).map { GeneralName.dnsName("n\($0).example") }
            let names = (0..<300).map { GeneralName.dnsName("m\($0).example") }
            $0.constrain(excluded: constraints, names: names + [.dnsName("example.org")])
            $0.refuse(.tooComplex("more than 50000 comparisons of names with name constraints"))
            $0.openSSL = .differs("OpenSSL's limit is higher")
        },
    ]

    private static func constrained(
        _ name: String,
        permitted: [GeneralName] = [],
        excluded: [GeneralName] = [],
        leaf: String = World.host,
        host: String? = nil,
        refused: String? = nil,
        openSSL: OpenSSL = .agrees
    ) -> TrustCase {
        TrustCase(name) {
            $0.constrain(permitted: permitted, excluded: excluded, names: [.dnsName(leaf)])
            $0.host = host ?? leaf
            $0.openSSL = openSSL
            guard let refused else { return }
            $0.refuse(.nameConstraints(subject: "address", name: refused, constrainedBy: "Constrained"))
        }
    }

    mutating func constrain(
        permitted: [GeneralName] = [],
        excluded: [GeneralName] = [],
        names: [GeneralName]
    ) {
        let constraints = NameConstraints(permittedSubtrees: permitted, excludedSubtrees: excluded)
        let authority = Blueprint.authority("Constrained").with(\.constraints, constraints).signed(by: World.root)
        send(Blueprint.leaf("address", names: names).signed(by: authority), authority)
    }

    static func address(_ bytes: UInt8...) -> GeneralName { .ipAddress(ASN1OctetString(contentBytes: bytes[...])) }

    static func range(_ bytes: [UInt8]) -> GeneralName { .ipAddress(ASN1OctetString(contentBytes: bytes[...])) }

    static func organisation(_ name: String) -> GeneralName {
        guard let name = try? DistinguishedName(builder: { OrganizationName(name) }) else {
            fatalError("\(name) is no name")
        }
        return .directoryName(name)
    }
}
