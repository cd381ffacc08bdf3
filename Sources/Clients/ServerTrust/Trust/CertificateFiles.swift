import LinuxSupport
public import Logging
import SwiftASN1

/// Functions that read certificates from files in DER, or in PEM with any number of certificates. Certificates that
/// cannot be parsed are skipped and logged at `warning`, with the file and the reason, because a missing pin would
/// refuse a good server. PEM blocks of other types are ignored.
public enum CertificateFiles {
    /// A function that receives the file and the reason of a skipped certificate.
    typealias Skipped = (_ path: String, _ error: TrustCertificateError) -> Void

    private static let limit = 64 << 20
    private static let extensions: Set<String> = ["cer", "crt", "der", "pem"]

    /// Reads all certificates of a file. PEM blocks of other types, for example keys, and certificates that cannot be
    /// parsed are skipped.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - logger: The log for skipped certificates.
    /// - Throws: ``TrustCertificateError`` if the file cannot be read or contains no usable certificate.
    public static func read(
        _ path: String,
        logger: Logger = Logger(label: "ServerTrust")
    ) throws(TrustCertificateError) -> [TrustCertificate] {
        try read(path, skipped: warning(logger))
    }

    static func read(_ path: String, skipped: Skipped) throws(TrustCertificateError) -> [TrustCertificate] {
        let bytes = try content(path)
        let blocks = PEMBlocks.documents(in: bytes, type: "CERTIFICATE")
        guard !blocks.isEmpty else {
            // A certificate in DER begins with the tag of a SEQUENCE.
            guard bytes.first == 0x30 else { throw .unreadable("the file has no certificate in PEM or DER") }
            return [try TrustCertificate(derEncoded: bytes)]
        }
        var certificates: [TrustCertificate] = []
        var errors: [TrustCertificateError] = []
        for block in blocks {
            do throws(TrustCertificateError) {
                guard let block else { throw .unreadable("cannot decode a PEM block") }
                certificates.append(try TrustCertificate(derEncoded: block))
            } catch {
                errors.append(error)
            }
        }
        if certificates.isEmpty, let first = errors.first { throw first }
        for error in errors { skipped(path, error) }
        return certificates
    }

    /// Reads all certificates of the files in a directory whose names end in `cer`, `crt`, `der` or `pem`, in upper or
    /// lower case. With `anyName`, all files are read. The order is that of the file names, and duplicates are removed.
    /// Subdirectories are ignored. Files that cannot be read are skipped and logged.
    ///
    /// For a bundle of Foundation, pass its `resourcePath`.
    ///
    /// - Parameters:
    ///   - directory: The path of the directory.
    ///   - anyName: A Boolean value that indicates whether all files are read.
    ///   - logger: The log for skipped files and certificates.
    /// - Throws: ``TrustCertificateError`` if the directory cannot be read.
    public static func read(
        directory: String,
        anyName: Bool = false,
        logger: Logger = Logger(label: "ServerTrust")
    ) throws(TrustCertificateError) -> [TrustCertificate] {
        try read(directory: directory, anyName: anyName, skipped: warning(logger))
    }

    static func read(
        directory: String,
        anyName: Bool,
        skipped: Skipped
    ) throws(TrustCertificateError) -> [TrustCertificate] {
        let names: [String]
        do {
            names = try DirectoryListing.files(in: directory)
        } catch {
            throw .file(path: directory, cause: error.description)
        }
        var seen: Set<TrustCertificate> = []
        var certificates: [TrustCertificate] = []
        for name in names where anyName || hasExtension(name) {
            let path = "\(directory)/\(name)"
            do {
                certificates += try read(path, skipped: skipped)
            } catch {
                skipped(path, error)
            }
        }
        return certificates.filter { seen.insert($0).inserted }
    }

    private static func warning(_ logger: Logger) -> Skipped {
        { path, error in
            let place = if case .file = error { "" } else { " in \(path.printable)" }
            logger.warning("skipped a certificate\(place): \("\(error)".shown)")
        }
    }

    private static func hasExtension(_ name: String) -> Bool {
        guard let dot = name.unicodeScalars.lastIndex(of: ".") else { return false }
        return extensions.contains(name[name.unicodeScalars.index(after: dot)...].lowercased())
    }

    private static func content(_ path: String) throws(TrustCertificateError) -> [UInt8] {
        do {
            return try InputFile.read(path, limit: limit)
        } catch {
            throw .file(path: path, cause: error.description)
        }
    }
}

/// The blocks of a PEM text (RFC 7468). Text between the blocks is ignored, because bundles contain comments and
/// printed certificates.
package enum PEMBlocks {
    private static let newline = UInt8(ascii: "\n")

    /// Returns the DER of each block of a type. An element is nil if the block cannot be decoded.
    package static func documents(in bytes: [UInt8], type: String) -> [[UInt8]?] {
        let begin = Array("-----BEGIN \(type)-----".utf8)
        let end = Array("-----END \(type)-----".utf8)
        var blocks: [[UInt8]?] = []
        var document: [UInt8]?
        // Lines are processed as bytes. Conversion of the 3,500 lines of a system's roots to strings would take longer
        // than parsing the certificates.
        for line in bytes.split(whereSeparator: { $0 == newline || $0 == UInt8(ascii: "\r") }) {
            // Longer lines are not PEM.
            guard line.count <= 1024 else { document = nil; continue }
            let line = trimmingBlanks(line)
            if line.elementsEqual(begin) {
                document = begin + [newline]
            } else if line.elementsEqual(end), let open = document {
                let text = String(decoding: open + end, as: UTF8.self)
                blocks.append((try? PEMDocument(pemString: text))?.derBytes)
                document = nil
            } else {
                document?.append(contentsOf: line)
                document?.append(newline)
            }
        }
        return blocks
    }

    private static func trimmingBlanks(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isText: (UInt8) -> Bool = { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard let first = line.firstIndex(where: isText), let last = line.lastIndex(where: isText) else { return [] }
        return line[first...last]
    }
}
