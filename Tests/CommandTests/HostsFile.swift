import Glibc
import NetworkLab

/// A file of hosts that is gone when nobody holds it any more.
final class HostsFile: Sendable {
    let path = "/tmp/hosts-\(getpid())-\(UInt64.random(in: 0 ... .max))"

    init(_ text: String) throws {
        try write(text)
    }

    convenience init(_ hosts: [String]) throws {
        try self.init(hosts.map { $0 + "\n" }.joined())
    }

    func write(_ text: String) throws {
        guard let file = fopen(path, "w") else { throw LabError.system("fopen \(path)") }
        defer { fclose(file) }
        guard fwrite(text, 1, text.utf8.count, file) == text.utf8.count else { throw LabError.system("fwrite \(path)") }
    }

    func remove() {
        unlink(path)
    }

    deinit {
        remove()
    }
}
