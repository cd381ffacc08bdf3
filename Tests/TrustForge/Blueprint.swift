import Crypto
import FoundationEssentials
package import ServerTrust
import SwiftASN1
package import X509

/// The content of a forged certificate. The default is a valid certificate for `example.org`.
package struct Blueprint {
    package var name: String
    package var key: ForgeKey?
    package var names: [GeneralName] = []
    package var authority: BasicConstraints?
    package var usage: KeyUsage?
    package var purposes: [ExtendedKeyUsage.Usage] = []
    package var constraints: NameConstraints?
    package var begins = World.begins
    package var ends = World.ends
    package var version = Certificate.Version.v3
    package var algorithm: Certificate.SignatureAlgorithm?
    package var hasIdentifiers = true
    package var hasSubject = true
    /// The subject. If nil, it is made from the name.
    package var subject: DistinguishedName?
    package var more: [Certificate.Extension] = []
    /// The name of the issuer. If nil, that of the signer.
    package var issuerName: String?

    package init(name: String) {
        self.name = name
    }

    package static func leaf(
        _ name: String = "example.org",
        names: [GeneralName] = [.dnsName("example.org")]
    ) -> Blueprint {
        var blueprint = Blueprint(name: name)
        blueprint.names = names
        blueprint.authority = .notCertificateAuthority
        blueprint.usage = KeyUsage(digitalSignature: true)
        blueprint.purposes = [.serverAuth]
        return blueprint
    }

    package static func authority(_ name: String, pathLength: Int? = nil) -> Blueprint {
        var blueprint = Blueprint(name: name)
        blueprint.authority = .isCertificateAuthority(maxPathLength: pathLength)
        blueprint.usage = KeyUsage(keyCertSign: true, cRLSign: true)
        return blueprint
    }

    /// Returns a copy with one changed property.
    package func with<Value>(_ path: WritableKeyPath<Blueprint, Value>, _ value: Value) -> Blueprint {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }

    /// Returns the certificate, signed by another one or self-signed.
    package func signed(by issuer: Forged? = nil) -> Forged {
        do {
            return try make(issuer)
        } catch {
            fatalError("\(name) cannot be forged: \(error)")
        }
    }

    private func make(_ issuer: Forged?) throws -> Forged {
        let key = key ?? .p256(name)
        let signer = issuer?.key ?? key
        let issuerName =
            try issuerName.map { try Self.distinguishedName($0) } ?? issuer?.x509.subject
            ?? subject ?? Self.distinguishedName(name)
        let certificate = try Certificate(
            version: version,
            serialNumber: Certificate.SerialNumber(
                bytes: Array(SHA256.hash(data: Array((name + "\(ends)").utf8)).prefix(12))
            ),
            publicKey: key.key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: Double(begins.secondsSinceEpoch)),
            notValidAfter: Date(timeIntervalSince1970: Double(ends.secondsSinceEpoch)),
            issuer: issuerName,
            subject: try subject ?? (hasSubject ? Self.distinguishedName(name) : DistinguishedName()),
            signatureAlgorithm: algorithm ?? signer.key.defaultAlgorithm,
            extensions: try extensions(key: key, signer: signer),
            issuerPrivateKey: signer.key
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return Forged(x509: certificate, der: serializer.serializedBytes, key: key)
    }

    package static func distinguishedName(_ name: String) throws -> DistinguishedName {
        try DistinguishedName {
            OrganizationName("Forge")
            CommonName(name)
        }
    }

    private func extensions(key: ForgeKey, signer: ForgeKey) throws -> Certificate.Extensions {
        var extensions = Certificate.Extensions()
        if let authority { try extensions.append(Certificate.Extension(authority, critical: true)) }
        if let usage { try extensions.append(Certificate.Extension(usage, critical: true)) }
        if !purposes.isEmpty {
            try extensions.append(Certificate.Extension(try ExtendedKeyUsage(purposes), critical: false))
        }
        if !names.isEmpty {
            try extensions.append(Certificate.Extension(SubjectAlternativeNames(names), critical: !hasSubject))
        }
        if let constraints { try extensions.append(Certificate.Extension(constraints, critical: true)) }
        if hasIdentifiers, version == .v3 {
            let own = SubjectKeyIdentifier(hash: key.key.publicKey)
            let issuer = SubjectKeyIdentifier(hash: signer.key.publicKey).keyIdentifier
            try extensions.append(Certificate.Extension(own, critical: false))
            try extensions.append(Certificate.Extension(AuthorityKeyIdentifier(keyIdentifier: issuer), critical: false))
        }
        for entry in more { try extensions.append(entry) }
        return extensions
    }
}

extension Certificate.PrivateKey {
    /// The default signature algorithm of the key.
    package var defaultAlgorithm: Certificate.SignatureAlgorithm {
        switch publicKey.description {
        case "P384.PublicKey": .ecdsaWithSHA384
        case "Ed25519.PublicKey": .ed25519
        case let key where key.hasPrefix("RSA"): .sha256WithRSAEncryption
        default: .ecdsaWithSHA256
        }
    }
}
