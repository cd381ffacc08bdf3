import Foundation

/// Programs a test needs beside the command.
enum Tools {
    static func has(_ name: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"].contains { access($0 + name, X_OK) == 0 }
    }
}
