import Crypto
import FoundationEssentials
import ServerTrust
import SwiftASN1
import X509

/// What a forged certificate says. The defaults make a good certificate for `example.org`.
struct Blueprint {
    var name: String
    var key: ForgeKey?
    var names: [GeneralName] = []
    var authority: BasicConstraints?
    var usage: KeyUsage?
    var purposes: [ExtendedKeyUsage.Usage] = []
    var constraints: NameConstraints?
    var begins = World.begins
    var ends = World.ends
    var version = Certificate.Version.v3
    var algorithm: Certificate.SignatureAlgorithm?
    var hasIdentifiers = true
    var hasSubject = true
    var more: [Certificate.Extension] = []
    /// Another name of the issuer than the signer's.
    var issuerName: String?

    static func leaf(_ name: String = "example.org", names: [GeneralName] = [.dnsName("example.org")]) -> Blueprint {
        var blueprint = Blueprint(name: name)
        blueprint.names = names
        blueprint.authority = .notCertificateAuthority
        blueprint.usage = KeyUsage(digitalSignature: true)
        blueprint.purposes = [.serverAuth]
        return blueprint
    }

    static func authority(_ name: String, pathLength: Int? = nil) -> Blueprint {
        var blueprint = Blueprint(name: name)
        blueprint.authority = .isCertificateAuthority(maxPathLength: pathLength)
        blueprint.usage = KeyUsage(keyCertSign: true, cRLSign: true)
        return blueprint
    }

    /// Changes one thing.
    func with<Value>(_ path: WritableKeyPath<Blueprint, Value>, _ value: Value) -> Blueprint {
        var copy = self
        copy[keyPath: path] = value
        return copy
    }

    /// The certificate, signed by another, or by itself.
    func signed(by issuer: Forged? = nil) -> Forged {
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
            ?? Self.distinguishedName(name)
        let certificate = try Certificate(
            version: version,
            serialNumber: Certificate.SerialNumber(
                bytes: Array(SHA256.hash(data: Array((name + "\(ends)").utf8)).prefix(12))
            ),
            publicKey: key.key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: Double(begins.secondsSinceEpoch)),
            notValidAfter: Date(timeIntervalSince1970: Double(ends.secondsSinceEpoch)),
            issuer: issuerName,
            subject: hasSubject ? Self.distinguishedName(name) : DistinguishedName(),
            signatureAlgorithm: algorithm ?? signer.key.defaultAlgorithm,
            extensions: try extensions(key: key, signer: signer),
            issuerPrivateKey: signer.key
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return Forged(x509: certificate, der: serializer.serializedBytes, key: key)
    }

    static func distinguishedName(_ name: String) throws -> DistinguishedName {
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
            try extensions.append(
                Certificate.Extension(AuthorityKeyIdentifier(keyIdentifier: issuer), critical: false)
            )
        }
        for entry in more { try extensions.append(entry) }
        return extensions
    }
}

extension Certificate.PrivateKey {
    /// What belongs to the key.
    var defaultAlgorithm: Certificate.SignatureAlgorithm {
        switch publicKey.description {
        case "P384.PublicKey": .ecdsaWithSHA384
        case "Ed25519.PublicKey": .ed25519
        case let key where key.hasPrefix("RSA"): .sha256WithRSAEncryption
        default: .ecdsaWithSHA256
        }
    }
}
