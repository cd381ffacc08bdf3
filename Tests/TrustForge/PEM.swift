import SwiftASN1

/// Certificates as text.
package enum PEM {
    package static func text(_ certificates: [[UInt8]]) -> String {
        certificates.map { PEMDocument(type: "CERTIFICATE", derBytes: $0).pemString + "\n" }.joined()
    }
}
