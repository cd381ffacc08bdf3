import LinuxSupport
import ServerTrust

/// Files with certificates and keys: each is always whole, the old one or the new one.
enum FleetFile {
    /// The most bytes of one: certificates with all that may stand between them.
    static let limit = 1 << 20

    static func read(_ path: String, limit: Int = limit) throws(FleetCertificateError) -> [UInt8] {
        do { return try InputFile.read(path, limit: limit) } catch { throw .unreadable(path: path, error) }
    }

    /// Writes a file, which is on the disk when this returns.
    ///
    /// - Parameter advice: What to do where it is there already; nil where it is to be replaced.
    static func write(
        _ path: String,
        _ bytes: [UInt8],
        mode: UInt32 = 0o600,
        ifNew advice: String? = nil
    ) throws(FleetCertificateError) {
        let fresh = path + ".new"
        do throws(SystemError) {
            // It may lie there since a kill.
            let file = try OutputFile(fresh, replacing: true)
            try file.append(bytes)
            if mode != 0o600 { try OwnFile.setMode(fresh, mode) }
            try file.sync()
            try FileName.move(fresh, to: path, replacing: advice == nil)
            try FileName.syncDirectory(of: path)
        } catch {
            OwnFile.remove(fresh)
            if error == .fileExists, let advice { throw .exists(path: path, advice: advice) }
            throw .unwritable(path: path, error)
        }
    }

    /// Makes a directory for its owner alone, where there is none.
    static func makeDirectory(_ path: String) throws(FleetCertificateError) {
        do { try OwnDirectory.make(path, mode: 0o700) } catch { throw .unwritable(path: path, error) }
    }

    /// Throws unless a directory is there, and others may do nothing in it of what `mask` has.
    static func requirePrivate(_ path: String, mask: UInt32) throws(FleetCertificateError) {
        let mode: UInt32
        do { mode = try OwnFile.mode(path) } catch { throw .unreadable(path: path, error) }
        guard mode & mask == 0 else { throw .openToOthers(path: path, mode: mode) }
    }

    /// The certificates of a file in PEM, at least one.
    ///
    /// - Parameter advice: What to do where there is none.
    static func certificates(
        _ path: String,
        advice: String
    ) throws(FleetCertificateError) -> [TrustCertificate] {
        var found: [TrustCertificate] = []
        for block in PEMBlocks.documents(in: try read(path), type: FleetCertificate.type) {
            guard let block else {
                throw .certificate(path: path, why: "its PEM cannot be decoded", advice: advice)
            }
            do { found.append(try TrustCertificate(derEncoded: block)) } catch {
                throw .certificate(path: path, why: error.description, advice: advice)
            }
        }
        guard !found.isEmpty else {
            throw .certificate(path: path, why: "there is no `CERTIFICATE` in PEM in it", advice: advice)
        }
        return found
    }
}
