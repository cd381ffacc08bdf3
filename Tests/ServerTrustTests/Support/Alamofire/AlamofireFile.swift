import TrustForge

/// A file in a bundle of Alamofire's tests, by its role, and whether a certificate is read from it.
struct AlamofireFile: Sendable {
    let name: String
    let content: [UInt8]
    /// Whether we read one.
    let isRead: Bool
    /// Why Alamofire does not, where it does the opposite.
    var difference: String?

    static let all =
        ["cer", "crt", "der"].map { type in
            AlamofireFile(name: "certDER.\(type)", content: AlamofireWorld.root.der, isRead: true)
        }
        + ["cer", "crt", "der"].map { type in
            AlamofireFile(
                name: "certPEM.\(type)",
                content: Array(PEM.text([AlamofireWorld.signing1.der]).utf8),
                isRead: true,
                difference: "Apple's function reads only DER; on Linux certificates are usually PEM"
            )
        } + [
            AlamofireFile(
                name: "randomGibberish.crt",
                content: (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 167) },
                isRead: false
            ),
            AlamofireFile(
                name: "keyDER.der",
                content: AlamofireWorld.root.certificate.publicKey.subjectPublicKeyInfo,
                isRead: false
            ),
        ]
}
