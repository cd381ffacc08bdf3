public import Logging

extension ServerTrustPolicy {
    /// The certificates in a directory, in files whose names end in `cer`, `crt`, `der` or `pem` in upper or lower case. What cannot be
    /// read is left out and logged at `warning`, with the file and why; so is a directory that is not there, which has none. An empty list trusts
    /// nobody. ``CertificateFiles/read(directory:anyName:logger:)`` throws where there is no such directory.
    ///
    /// - Parameters:
    ///   - directory: Its path; of a bundle, its `resourcePath`.
    ///   - logger: Where is said what was left out.
    public static func certificates(
        in directory: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) -> [TrustCertificate] {
        do {
            return try CertificateFiles.read(directory: directory, logger: logger)
        } catch {
            logger.warning("no certificates are read: \("\(error)".shown)")
            return []
        }
    }

    /// The keys of those certificates.
    public static func publicKeys(
        in directory: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) -> [ServerPublicKey] {
        certificates(in: directory, logger: logger).map(\.publicKey)
    }
}
