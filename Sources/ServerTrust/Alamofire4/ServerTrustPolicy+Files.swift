extension ServerTrustPolicy {
    /// The certificates in a directory, in files whose names end in `cer`, `crt`, `der` or `pem` in upper or lower case. What cannot be
    /// read is left out, and a directory that is not there has none: an empty list trusts nobody.
    /// ``CertificateFiles/read(directory:anyName:)`` tells what went wrong.
    ///
    /// - Parameter directory: Its path; of a bundle, its `resourcePath`.
    public static func certificates(in directory: String) -> [TrustCertificate] {
        (try? CertificateFiles.read(directory: directory)) ?? []
    }

    /// The keys of those certificates.
    public static func publicKeys(in directory: String) -> [ServerPublicKey] {
        certificates(in: directory).map(\.publicKey)
    }
}
