package import ServerTrust

/// A policy file, as it was read with a configuration; one that was read again is another.
package final class TrustPolicy: Hashable, Sendable {
    package let file: TrustPolicyFile

    package init(_ file: TrustPolicyFile) {
        self.file = file
    }

    package static func == (one: TrustPolicy, other: TrustPolicy) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension TableReader {
    /// The file that `policy` names; nil where it names none, or one that cannot be used.
    ///
    /// - Parameter directory: What its path is relative to; nil for the current directory.
    func policy(in directory: String?) -> TrustPolicy? {
        guard let path = text("policy") else { return nil }
        do throws(TrustPolicyFileError) {
            return TrustPolicy(try TrustPolicyFile(path: path.hasPrefix("/") ? path : (directory ?? "") + path))
        } catch {
            complain("policy", error.description)
            return nil
        }
    }
}
