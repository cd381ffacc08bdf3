import Crypto
import SwiftASN1

/// The hashes with which responders and certificates are named. They protect nothing: whoever finds a collision still needs the
/// issuer's signature. So SHA-1, which every responder understands, is what requests use (RFC 5019, 2.1.1).
enum OCSPDigest: CaseIterable {
    case sha1, sha256

    var identifier: ASN1ObjectIdentifier {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        }
    }

    func hash(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch self {
        case .sha1: Array(Insecure.SHA1.hash(data: bytes))[...]
        case .sha256: Array(SHA256.hash(data: bytes))[...]
        }
    }
}
