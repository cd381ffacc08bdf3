import Foundation

/// A temporary directory that is deleted with the object.
package final class ScratchDirectory: Sendable {
    package let path = "/tmp/scratch-trust-\(getpid())-\(UInt64.random(in: 0 ... .max))"

    package init() {
        guard mkdir(path, 0o755) == 0 else { fatalError("mkdir \(path): error \(errno)") }
    }

    /// Writes a file, with the directories above it, and returns its path.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String {
        try write(name, Array(text.utf8))
    }

    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = "\(path)/\(name)"
        let folder = (file as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Writes certificates in PEM.
    package func write(_ name: String, _ certificates: [Forged]) throws -> String {
        try write(name, PEM.text(certificates.map(\.der)))
    }

    /// Writes a key in PEM.
    ///
    /// - Parameter isKeyless: Whether the file has an invalid private key, see ``ForgeKey/keylessPEM()``.
    package func write(_ name: String, _ key: ForgeKey, isKeyless: Bool = false) throws -> String {
        try write(name, try (isKeyless ? key.keylessPEM() : key.key.serializeAsPEM().pemString) + "\n")
    }

    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }

    /// Returns the text of a file; empty if it cannot be read.
    package func text(_ name: String) -> String {
        String(decoding: (try? read(name)) ?? [], as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
