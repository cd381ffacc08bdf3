import Foundation
import TrustForge

/// A directory that is gone when nobody holds it any more.
final class ScratchDirectory: Sendable {
    let path = "/tmp/scratch-trust-nio-\(getpid())-\(UInt64.random(in: 0 ... .max))"

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }

    /// Writes certificates in PEM.
    func write(_ name: String, _ certificates: [Forged]) throws -> String {
        try write(name, PEM.text(certificates.map(\.der)))
    }

    /// Writes a key in PEM.
    func write(_ name: String, _ key: ForgeKey) throws -> String {
        try write(name, try key.key.serializeAsPEM().pemString + "\n")
    }

    func text(_ name: String) -> String {
        (try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)) ?? ""
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
