import SwiftASN1
import X509

extension TrustCertificate {
    func basicConstraints() throws(TrustFailure) -> BasicConstraints? {
        try read("basicConstraints") { try $0.basicConstraints }
    }

    func keyUsage() throws(TrustFailure) -> KeyUsage? {
        try read("keyUsage") { try $0.keyUsage }
    }

    func extendedKeyUsage() throws(TrustFailure) -> ExtendedKeyUsage? {
        try read("extendedKeyUsage") { try $0.extendedKeyUsage }
    }

    func readableAlternativeNames() throws(TrustFailure) -> [GeneralName] {
        guard let alternativeNames else {
            throw .unreadableExtension(subject: description, name: "subjectAltName")
        }
        return alternativeNames
    }

    /// Whether it may sign other certificates, as far as basicConstraints says.
    var isAuthority: Bool {
        guard case .isCertificateAuthority = try? basicConstraints() else { return false }
        return true
    }

    /// Whether it promises that its server sends a stapled response (status_request in the TLS feature extension, RFC 7633). One that
    /// cannot be read promises it, in doubt.
    var requiresStapledResponse: Bool {
        guard let feature = x509.extensions.first(where: { $0.oid == [1, 3, 6, 1, 5, 5, 7, 1, 24] }) else {
            return false
        }
        guard let node = try? DER.parse(feature.value),
            let features = try? DER.sequence(of: Int.self, identifier: .sequence, rootNode: node)
        else { return true }
        // status_request, status_request_v2
        return features.contains(5) || features.contains(17)
    }

    private func read<Value>(
        _ name: String,
        _ body: (Certificate.Extensions) throws -> Value?
    ) throws(TrustFailure) -> Value? {
        do {
            return try body(x509.extensions)
        } catch {
            throw .unreadableExtension(subject: description, name: name)
        }
    }
}
