import CommandLineSupport
import LinuxSupport
import Testing
import TrustForge

/// Files of hosts, one host on each line.
@Suite struct TargetFileTests {
    private let directory: ScratchDirectory

    init() throws {
        directory = try ScratchDirectory()
    }

    /// The hosts of a file, and its bad lines without the name of the file.
    private func read(_ text: String) throws -> (hosts: [String], bad: [String]) {
        let path = try directory.write("hosts", text)
        let (hosts, bad) = try TargetFile(path: path).read { text throws(HostError) in try HostError.check(text) }
        return (hosts, bad.map { String("\($0)".dropFirst(path.count)) })
    }

    private static let text = """
        # Routers
        192.0.2.7   # the first

        \t198.51.100.1\t
        192.0.2.7
        x:1
          #nothing
        a b
        2001:db8:9::9#no blank
        fe80::1
        """

    @Test(arguments: ["\n", "\r\n"]) func `comments and blanks are skipped, and bad lines are reported`(
        end: String
    ) throws {
        let (hosts, bad) = try read(Self.text.replacing("\n", with: end))
        #expect(hosts == ["192.0.2.7", "198.51.100.1", "2001:db8:9::9"])
        let starts = [":6: \"x:1\" is neither", ":8: \"a b\" is neither", ":10: fe80::1 is link-local"]
        #expect(bad.count == starts.count && zip(bad, starts).allSatisfy { $0.hasPrefix($1) }, "\(bad)")
    }

    @Test func `a byte order mark is not part of the first host`() throws {
        #expect(try read("\u{feff}192.0.2.7\n198.51.100.1\n").hosts == ["192.0.2.7", "198.51.100.1"])
    }

    @Test(arguments: ["", "# empty\n\n", "\u{feff}"]) func `a file may have no hosts`(text: String) throws {
        let (hosts, bad) = try read(text)
        #expect(hosts.isEmpty && bad.isEmpty)
    }

    @Test func `NUL does not end an address, and control characters are escaped`() throws {
        let (hosts, bad) = try read("192.0.2.1\0.example\n192.0.2.2\0\n\0\n\u{1b}[2J\u{7}\n")
        let texts = ["192.0.2.1\\u{0}.example", "192.0.2.2\\u{0}", "\\u{0}", "\\u{1b}[2J\\u{7}"]
        #expect(hosts.isEmpty && bad.count == texts.count)
        for (index, (line, text)) in zip(bad, texts).enumerated() {
            #expect(line.hasPrefix(":\(index + 1): \"\(text)\" is neither"))
        }
    }

    @Test(arguments: [("/nowhere/hosts", "No such file or directory"), ("/", "Is a directory")])
    func `a file that cannot be read is refused`(path: String, cause: String) throws {
        let refusal = Refusal.of {
            try TargetFile(path: path).read { text throws(HostError) in try HostError.check(text) }
        }
        #expect(refusal == Refusal("cannot read the hosts in \(path): \(cause)", .noInput))
    }
}
