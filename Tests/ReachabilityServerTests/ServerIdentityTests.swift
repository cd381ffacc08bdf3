import Foundation
import ReachabilityService
import ServerTrust
import Testing
import TrustForge

@testable import ReachabilityServer

/// The certificate and the key of a service, read from the files of its configuration.
@Suite struct ServerIdentityTests {
    private let directory: ScratchDirectory

    init() throws {
        directory = try ScratchDirectory()
        try write(TrustWorld.leaf)
    }

    private func write(_ forged: Forged) throws {
        _ = try directory.write("server.pem", [forged])
        try write(key: forged.key)
    }

    private func write(key: ForgeKey, mode: mode_t = 0o600) throws {
        let file = try directory.write("server.key", key)
        #expect(chmod(file, mode) == 0)
    }

    private func identity() throws -> ServerIdentity? {
        let text = """
            schema = 1
            [access]
            certificate = "\(directory.path)/server.pem"
            key = "\(directory.path)/server.key"
            """
        return try ServerIdentity(try ServiceConfiguration(text).access)
    }

    /// The problem of the files, with DIR for the directory; nil if the files are accepted.
    private func problem() -> String? {
        do {
            _ = try identity()
            return nil
        } catch let error as ConfigurationProblems {
            return error.problems.map { "\($0.path): \($0.text)".replacing(directory.path, with: "DIR") }.joined()
        } catch {
            return "\(error)"
        }
    }

    @Test func `a certificate and its key are accepted`() throws {
        #expect(problem() == nil)
        #expect(try identity()?.fault(at: .now) == nil)
        let past = TrustWorld.server("past").with(\.begins, World.begins).with(\.ends, TrustWorld.past)
        try write(past.signed(by: TrustWorld.root))
        #expect(try identity()?.fault(at: .now)?.hasPrefix("the certificate ended on ") == true)
    }

    @Test func `a file without a certificate is refused`() throws {
        _ = try directory.write("server.pem", "")
        #expect(problem() == "access.certificate: DIR/server.pem is empty")
        _ = try directory.write("server.pem", "text")
        let text = "has no certificate that can be read: it must be in PEM, the service's own first"
        #expect(problem() == "access.certificate: DIR/server.pem \(text)")
    }

    @Test func `a key that is missing, open to others or of another certificate is refused`() throws {
        try write(key: TrustWorld.leaf.key, mode: 0o644)
        #expect(
            problem()?.hasPrefix("access.key: every user of this machine may use DIR/server.key: `chmod o= ") == true
        )
        try write(key: .p256("another"))
        #expect(problem()?.hasPrefix("access.key: the key of DIR/server.key does not") == true, "\(problem() ?? "")")
        try FileManager.default.removeItem(atPath: "\(directory.path)/server.key")
        #expect(problem() == "access.key: cannot read DIR/server.key: No such file or directory")
    }
}
