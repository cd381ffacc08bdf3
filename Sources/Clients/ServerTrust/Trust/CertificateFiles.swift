import LinuxSupport
public import Logging
import SwiftASN1

/// Reads certificates from files, in DER or in PEM with any number of them. What is left out is logged at `warning`, with the file and
/// why, unless it is of another kind: a pin that is missing unnoticed refuses a good server.
public enum CertificateFiles {
    /// Called with the file that it was in.
    typealias Skipped = (_ path: String, _ error: TrustCertificateError) -> Void

    private static let limit = 64 << 20
    private static let extensions: Set<String> = ["cer", "crt", "der", "pem"]

    /// All certificates of a file. Blocks of other kinds, keys for example, and certificates that cannot be read are left out.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - logger: Where is said what was left out.
    /// - Throws: ``TrustCertificateError`` when the file cannot be read, or nothing in it is a certificate.
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
            // What a certificate in DER begins with.
            guard bytes.first == 0x30 else { throw .unreadable("the file has none, in PEM or DER") }
            return [try TrustCertificate(derEncoded: bytes)]
        }
        var certificates: [TrustCertificate] = []
        var errors: [TrustCertificateError] = []
        for block in blocks {
            do throws(TrustCertificateError) {
                guard let block else { throw .unreadable("a block of PEM cannot be decoded") }
                certificates.append(try TrustCertificate(derEncoded: block))
            } catch {
                errors.append(error)
            }
        }
        if certificates.isEmpty, let first = errors.first { throw first }
        for error in errors { skipped(path, error) }
        return certificates
    }

    /// All certificates of the files in a directory whose names end in `cer`, `crt`, `der` or `pem`, in upper or lower case, by the
    /// names' order; with `anyName`, of all files. Directories in it are not looked into. What cannot be read is left out, and logged.
    ///
    /// A bundle of Foundation is a directory here: give its `resourcePath`.
    ///
    /// - Parameters:
    ///   - directory: Its path.
    ///   - anyName: Whether all files are read.
    ///   - logger: Where is said what was left out.
    /// - Throws: ``TrustCertificateError`` when there is no such directory or it may not be read.
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
            logger.warning("a certificate\(place) is left out: \("\(error)".shown)")
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

/// The certificates or lists in a text of PEM blocks (RFC 7468), whatever stands between them: bundles have comments and whole
/// printouts.
package enum PEMBlocks {
    private static let newline = UInt8(ascii: "\n")

    /// The DER of each block of a type, nil for those that cannot be decoded.
    package static func documents(in bytes: [UInt8], type: String) -> [[UInt8]?] {
        let begin = Array("-----BEGIN \(type)-----".utf8)
        let end = Array("-----END \(type)-----".utf8)
        var blocks: [[UInt8]?] = []
        var document: [UInt8]?
        // As bytes: to make a text of each of the 3,500 lines of a system's roots takes longer than to read its certificates.
        for line in bytes.split(whereSeparator: { $0 == newline || $0 == UInt8(ascii: "\r") }) {
            // Longer lines are no PEM.
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
