import Foundation

/// Programs a test needs beside the command.
enum Tools {
    /// Whether there are users besides our own; inside `unshare -Ur` there is one only.
    static var hasOtherUsers: Bool {
        (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8))?.hasSuffix(" 1\n") == false
    }

    static func has(_ name: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"].contains { access($0 + name, X_OK) == 0 }
    }
}
