import Foundation

/// What must be there for a scenario to be possible.
enum Need: String, Sendable {
    case tun = "/dev/net/tun"
    case radvd = "/usr/sbin/radvd"
    case otherUsers = "users besides our own"

    var isMet: Bool {
        switch self {
        case .tun, .radvd:
            access(rawValue, R_OK) == 0
        case .otherUsers:
            // Inside `unshare -Ur` there is one user only.
            (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8))?.hasSuffix(" 1\n") == false
        }
    }
}
