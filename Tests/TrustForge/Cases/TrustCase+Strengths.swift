import ServerTrust
import X509

extension TrustCase {
    static let strengths: [TrustCase] = [
        TrustCase("signed with SHA-1") {
            let leaf = Blueprint.leaf().with(\.algorithm, .sha1WithRSAEncryption).signed(by: World.rsaIntermediate)
            $0.send(leaf, World.rsaIntermediate)
            $0.trust(World.rsaRoot)
            $0.refuse(.weakSignature(subject: World.host, algorithm: "SHA-1 with RSA"))
        },
        TrustCase("signed with SHA-1, allowed") {
            let leaf = Blueprint.leaf().with(\.algorithm, .sha1WithRSAEncryption).signed(by: World.rsaIntermediate)
            $0.send(leaf, World.rsaIntermediate)
            $0.trust(World.rsaRoot)
            $0.requirements.allowsSHA1 = true
            $0.openSSL = .cannotSay
        },
        TrustCase("an intermediate signed with SHA-1") {
            let middle = Blueprint.authority("Collided").with(\.algorithm, .sha1WithRSAEncryption)
                .signed(by: World.rsaRoot)
            $0.send(Blueprint.leaf().signed(by: middle), middle)
            $0.trust(World.rsaRoot)
            $0.refuse(.weakSignature(subject: "Collided", algorithm: "SHA-1 with RSA"))
        },
        below(
            root: .authority("Old").with(\.key, .rsa2048[0]).with(\.algorithm, .sha1WithRSAEncryption),
            "a root signed with SHA-1"
        ),
        TrustCase("signed with MD5") {
            // The identifiers differ in their last byte: 11 is SHA-256, 4 is MD5.
            $0.sent = [World.rsaLeaf.der.replacing(Self.rsaPrefix + [11], with: Self.rsaPrefix + [4])]
            $0.sent.append(World.rsaIntermediate.der)
            $0.trust(World.rsaRoot)
            $0.refuse(.weakSignature(subject: "the server's certificate", algorithm: "MD5 with RSA"))
        },
        leaf("a key of 1024 bits", .weakKey(subject: "the server's certificate", bits: 1024)) { $0.key = .rsa1024 },
        below(
            .authority("Weak").with(\.key, .rsa1024),
            "an intermediate with a key of 1024 bits",
            // The certificate is not parsed.
            .unknownIssuer(subject: World.host, issuer: "CN=Weak,O=Forge")
        ),
        TrustCase("keys of 2048 bits where 3072 are required") {
            $0.send(World.rsaLeaf, World.rsaIntermediate)
            $0.trust(World.rsaRoot)
            $0.requirements.minimumRSABits = 3072
            $0.refuse(.weakKey(subject: World.host, bits: 2048))
            $0.openSSL = .cannotSay
        },
    ]

    /// The encoding of 1.2.840.113549.1.1, the prefix of the algorithms of PKCS #1, in an identifier of nine bytes.
    private static let rsaPrefix: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01]
}
