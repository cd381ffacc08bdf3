import NIOCore
import NIOPosix
import ServerTrust
import TrustForge
import WebLab
import X509

/// `openssl ocsp` as a responder, and a certificate that names it.
struct ResponderProgram {
    /// What it says of the certificate.
    enum Statement {
        case good
        case revoked
        case unknown
        /// Nobody answers.
        case nothing
    }

    let root = Blueprint.authority("Responder Root").current.signed()
    let leaf: Forged
    private let program: Program?

    init(saying statement: Statement) async throws {
        guard statement != .nothing else {
            program = nil
            leaf = try Self.leaf(root, port: 1)
            return
        }
        let directory = try ScratchDirectory()
        let certificate = try directory.write("root.pem", [root])
        // The serial number does not depend on the port.
        let number = try Self.leaf(root, port: 0).x509.serialNumber.bytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
        let line =
            switch statement {
            case .good: "V\t991231235959Z\t\t\(number)\tunknown\t/O=Forge/CN=example.org\n"
            case .revoked:
                "R\t991231235959Z\t260101000000Z,keyCompromise\t\(number)\tunknown\t/O=Forge/CN=example.org\n"
            case .unknown, .nothing: ""
            }
        let port: Int
        (program, port) = try await Program.start(
            "openssl",
            [
                "ocsp", "-port", "0", "-index", try directory.write("index", line), "-CA", certificate,
                "-rsigner", certificate, "-rkey", try directory.write("root.key", root.key), "-nmin", "10",
            ],
            in: directory,
            ready: Program.acceptedPort
        )
        leaf = try Self.leaf(root, port: port)
    }

    private static func leaf(_ root: Forged, port: Int) throws -> Forged {
        var blueprint = Blueprint.leaf().current
        let place = GeneralName.uniformResourceIdentifier("http://127.0.0.1:\(port)/")
        let access = AuthorityInformationAccess([.init(method: .ocspServer, location: place)])
        blueprint.more = [try Certificate.Extension(access, critical: false)]
        return blueprint.signed(by: root)
    }
}
