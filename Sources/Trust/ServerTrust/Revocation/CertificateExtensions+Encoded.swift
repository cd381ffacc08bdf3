import SwiftASN1
import X509

extension Certificate.Extensions {
    /// Reads a sequence of extensions, each of which there is once (Extensions, RFC 5280, 4.2).
    init(encoded node: ASN1Node) throws {
        try self.init(try DER.sequence(of: Certificate.Extension.self, identifier: .sequence, rootNode: node))
    }

    /// Throws if there is a critical one beside those that are heeded.
    func requireNoCritical(but heeded: Set<ASN1ObjectIdentifier> = []) throws(RevocationProblem) {
        for entry in self where entry.critical && !heeded.contains(entry.oid) {
            throw .criticalExtension(identifier: entry.oid.description)
        }
    }
}
