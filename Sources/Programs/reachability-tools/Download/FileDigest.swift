import CommandLineSupport
import Crypto
import LinuxSupport

/// What the SHA-256 (FIPS 180-4) of a file must be.
struct FileDigest: Sendable {
    private let hex: String

    /// - Throws: ``ExitMessage`` where the text is not 64 hexadecimal digits.
    init(_ text: String) throws(ExitMessage) {
        guard text.utf8.count == 64, text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else {
            throw ExitMessage("--sha256 wants 64 hexadecimal digits, as sha256sum prints them", .usage)
        }
        hex = text.lowercased()
    }

    /// Reads the file to its end.
    ///
    /// - Throws: ``OtherDigest`` where it is another; `CancellationError`; what the system said.
    @Sendable func check(_ path: String) async throws {
        let file = try ReadableFile(path)
        var hash = SHA256()
        var offset: Int64 = 0
        while case let bytes = try file.read(1 << 20, at: offset), !bytes.isEmpty {
            try Task.checkCancellation()
            hash.update(data: bytes)
            offset += Int64(bytes.count)
        }
        let found = hash.finalize().map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count == 1 ? "0\(text)" : text
        }.joined()
        if found != hex { throw OtherDigest(found: found) }
    }
}

/// The file is another one.
struct OtherDigest: Error, CustomStringConvertible {
    let found: String

    var description: String { "its SHA-256 is \(found): it was deleted" }
}
