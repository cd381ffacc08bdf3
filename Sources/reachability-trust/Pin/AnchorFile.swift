import CommandLineSupport
import ServerTrust

/// What `--anchors` names.
enum AnchorFile {
    static func read(_ path: String) throws(ExitMessage) -> TrustAnchors {
        do {
            return TrustAnchors(try CertificateFiles.read(path))
        } catch .file(let path, let cause) {
            throw ExitMessage("cannot read the anchors in \(path): \(cause)", .noInput)
        } catch {
            throw ExitMessage("\(path) has no certificate that can be an anchor: \(error)", .dataError)
        }
    }
}
