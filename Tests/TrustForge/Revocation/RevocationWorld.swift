import SwiftASN1
package import X509

/// The certificates whose revocation status is checked.
package enum RevocationWorld {
    package static let responder = "http://ocsp.example/"
    package static let secondResponder = "http://ocsp2.example/status"
    package static let list = "http://crl.example/list"

    package static let authority = World.root
    /// The certificates have the same name, key and issuer, so a status applies to all of them. They differ in the
    /// responders and lists that they name.
    package static let plain = leaf()
    package static let withResponder = leaf(responders: [responder])
    package static let withList = leaf(lists: [list])
    package static let withBoth = leaf(responders: [responder], lists: [list])

    package static func leaf(responders: [String] = [], lists: [String] = []) -> Forged {
        var blueprint = Blueprint.leaf()
        blueprint.more = extensions(responders: responders, lists: lists)
        return blueprint.signed(by: authority)
    }

    package static func extensions(responders: [String] = [], lists: [String] = []) -> [Certificate.Extension] {
        var extensions: [Certificate.Extension] = []
        if !responders.isEmpty {
            let access = Encoded.sequence(
                responders.flatMap { url in
                    Encoded.sequence(Encoded.identifier([1, 3, 6, 1, 5, 5, 7, 48, 1]), uri(url))
                }
            )
            extensions.append(
                Certificate.Extension(oid: [1, 3, 6, 1, 5, 5, 7, 1, 1], critical: false, value: access[...])
            )
        }
        if !lists.isEmpty {
            let points = Encoded.sequence(lists.flatMap { Encoded.sequence(Encoded.tagged(0, point($0))) })
            extensions.append(Certificate.Extension(oid: [2, 5, 29, 31], critical: false, value: points[...]))
        }
        return extensions
    }

    /// Returns a DistributionPointName.
    package static func point(_ url: String) -> [UInt8] { Encoded.tagged(0, uri(url)) }

    /// Returns a GeneralName.
    package static func uri(_ url: String) -> [UInt8] { Encoded.node(0x86, Array(url.utf8)) }

    /// Returns a certificate that may sign OCSP responses.
    package static func delegate(
        _ change: (inout Blueprint) -> Void = { _ in },
        by issuer: Forged = authority
    ) -> Forged {
        var blueprint = Blueprint(name: "Responder")
        blueprint.usage = KeyUsage(digitalSignature: true)
        blueprint.purposes = [.ocspSigning]
        change(&blueprint)
        return blueprint.signed(by: issuer)
    }

    package static let noCheck = Certificate.Extension(
        oid: [1, 3, 6, 1, 5, 5, 7, 48, 1, 5],
        critical: false,
        value: Encoded.node(0x05)[...]
    )

    /// An unknown critical extension.
    package static let strange = Certificate.Extension(
        oid: [1, 2, 3, 4],
        critical: true,
        value: Encoded.node(0x05)[...]
    )
}
