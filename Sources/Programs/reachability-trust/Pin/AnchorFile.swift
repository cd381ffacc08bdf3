import CommandLineSupport
import LinuxPrimitives
import Netlink
import ServerTrust

/// What `--anchors` names.
enum AnchorFile {
    static func read(_ path: String) throws(ExitMessage) -> TrustAnchors {
        do {
            return TrustAnchors(try CertificateFiles.read(path))
        } catch .file(let path, let cause) {
            throw ExitMessage("cannot read the anchors in \(path.printable): \(cause)", .noInput)
        } catch .unreadable {
            throw ExitMessage(
                "\(path.printable) has no certificate that can be read: --anchors takes certificates in PEM or DER",
                .dataError
            )
        } catch {
            throw ExitMessage("\(path.printable) has no certificate that can be an anchor: \(error)", .dataError)
        }
    }
}
