import TrustForge
import WebLab

/// The trusted roots of the command.
enum Roots {
    private static let directory = ScratchDirectory()

    /// A file with the root of the good servers.
    static let file: String = {
        do { return try WebAuthority.write(to: directory) } catch { fatalError("no file of roots: \(error)") }
    }()
}
