import Netlink

/// Reads certificates from files, in DER or in PEM with any number of them.
public enum CertificateFiles {
    private static let limit = 64 << 20
    private static let extensions: Set<String> = ["cer", "crt", "der", "pem"]

    /// All certificates of a file. Blocks of other kinds, keys for example, and certificates that cannot be read are left out.
    ///
    /// - Throws: ``TrustCertificateError`` when the file cannot be read, or nothing in it is a certificate.
    public static func read(_ path: String) throws(TrustCertificateError) -> [TrustCertificate] {
        let bytes = try content(path)
        let blocks = PEMBlocks.certificates(in: bytes)
        guard blocks.isEmpty else {
            let certificates = blocks.compactMap { try? TrustCertificate(derEncoded: $0) }
            guard certificates.isEmpty else { return certificates }
            return [try TrustCertificate(derEncoded: blocks[0])]
        }
        return [try TrustCertificate(derEncoded: bytes)]
    }

    /// All certificates of the files in a directory whose names end in `cer`, `crt`, `der` or `pem`, in upper or lower case, by the
    /// names' order; with `anyName`, of all files. Directories in it are not looked into. What cannot be read is left out.
    ///
    /// A bundle of Foundation is a directory here: give its `resourcePath`.
    ///
    /// - Throws: ``TrustCertificateError`` when there is no such directory or it may not be read.
    public static func read(
        directory: String,
        anyName: Bool = false
    ) throws(TrustCertificateError) -> [TrustCertificate] {
        let names: [String]
        do {
            names = try DirectoryListing.files(in: directory)
        } catch {
            throw .file(path: directory, cause: error.description)
        }
        var seen: Set<TrustCertificate> = []
        return names.filter { anyName || hasExtension($0) }.flatMap { (try? read("\(directory)/\($0)")) ?? [] }
            .filter { seen.insert($0).inserted }
    }

    private static func hasExtension(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: ".") else { return false }
        return extensions.contains(name[name.index(after: dot)...].lowercased())
    }

    private static func content(_ path: String) throws(TrustCertificateError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: limit)
        } catch {
            throw .file(path: path, cause: error.description)
        }
    }
}
