import FoundationEssentials
public import ServerTrust

public import class Foundation.Bundle

/// The main bundle of a program on Linux: the directory of its file.
private enum MainBundle {
    static let path: String = {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return program.map { URL(filePath: $0).deletingLastPathComponent().path } ?? "."
    }()
}

extension Bundle {
    /// Alamofire's members of a bundle.
    public var af: AlamofireMembers { AlamofireMembers(bundle: self) }

    /// The certificates and the keys in the resources of a bundle. Those of the main bundle are in the directory of the program.
    public struct AlamofireMembers {
        fileprivate let bundle: Bundle

        /// The certificates in the resources of the bundle, see `ServerTrustPolicy.certificates(in:)`.
        public var certificates: [TrustCertificate] {
            ServerTrustPolicy.certificates(in: bundle.resourcePath ?? bundle.bundlePath)
        }

        /// The public keys of the certificates.
        public var publicKeys: [ServerPublicKey] { certificates.map(\.publicKey) }
    }
}

extension ServerTrustPolicy {
    /// Reads the certificates in the directory of the program, see `certificates(in:)`.
    public static func certificates() -> [TrustCertificate] { certificates(in: MainBundle.path) }

    /// Reads the public keys of the certificates in the directory of the program, see `publicKeys(in:)`.
    public static func publicKeys() -> [ServerPublicKey] { publicKeys(in: MainBundle.path) }
}

extension PinnedCertificatesTrustEvaluator {
    /// Creates an evaluator that pins the certificates in the directory of the program.
    public init(
        acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true,
        validateHost: Bool = true
    ) {
        self.init(
            certificates: ServerTrustPolicy.certificates(),
            acceptSelfSignedCertificates: acceptSelfSignedCertificates,
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost
        )
    }
}

extension PublicKeysTrustEvaluator {
    /// Creates an evaluator that pins the keys of the certificates in the directory of the program.
    public init(performDefaultValidation: Bool = true, validateHost: Bool = true) {
        self.init(
            keys: ServerTrustPolicy.publicKeys(),
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost
        )
    }
}

extension ServerTrustEvaluating where Self == PinnedCertificatesTrustEvaluator {
    /// An evaluator that pins the certificates in the directory of the program.
    public static var pinnedCertificates: PinnedCertificatesTrustEvaluator { PinnedCertificatesTrustEvaluator() }
}

extension ServerTrustEvaluating where Self == PublicKeysTrustEvaluator {
    /// An evaluator that pins the keys of the certificates in the directory of the program.
    public static var publicKeys: PublicKeysTrustEvaluator { PublicKeysTrustEvaluator() }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The length of a packet that AFNetworking suggests for `throttleBandwidth(withPacketSize:delay:)` on a slow line: 16 KiB.
public let kAFUploadStream3GSuggestedPacketSize = 16 << 10

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The delay that AFNetworking suggests for `throttleBandwidth(withPacketSize:delay:)` on a slow line: 0.2 seconds.
public let kAFUploadStream3GSuggestedDelay = 0.2
