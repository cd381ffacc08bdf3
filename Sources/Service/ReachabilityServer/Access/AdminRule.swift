import Glibc
import NIOHTTP1

/// Who may change something: root and the user the service runs as, over the Unix socket.
enum AdminRule {
    /// - Throws: ``Problem`` for everybody else.
    static func check(_ request: WebRequest) throws(Problem) {
        guard case .local(let user) = request.way else {
            throw Problem(.forbidden, "this is asked over the Unix socket only")
        }
        guard let user, user == 0 || user == geteuid() else {
            throw Problem(.forbidden, "only root and the user the service runs as may ask this")
        }
    }
}
