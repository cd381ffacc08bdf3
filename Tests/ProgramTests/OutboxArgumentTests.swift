import CommandLineSupport
import Testing
import TrustForge

@testable import reachability_tools

/// Headers and files that `reachability outbox add` takes as arguments.
@Suite struct OutboxArgumentTests {
    @Test(arguments: ["A: 1\r\n\r\nB: 2\n", "A: 1\nB:2", "A:1\r\nB: 2\r\n"])
    func `headers come from a file, whatever its line ends`(text: String) throws {
        let directory = try ScratchDirectory()
        let file = try directory.write("headers", text)
        #expect(try HeaderArgument(text: "@\(file)").headers.map { "\($0.name)=\($0.value)" } == ["A=1", "B=2"])
    }

    @Test func `a header has a colon`() throws {
        #expect(try HeaderArgument(text: "A: \"q\\").headers.map(\.value) == ["\"q\\"])
        #expect(try HeaderArgument(text: "B:").headers.map(\.value) == [""])
        let refusal = Refusal.of { try HeaderArgument(text: "x").headers }
        #expect(refusal == Refusal("a header has no colon: write \"Name: value\""))
    }

    @Test(arguments: [
        ("no-such-file", "cannot read no-such-file: No such file or directory", ExitMessage.Status.noInput),
        (".", "cannot read .: Is a directory", .noInput),
        ("/dev/zero", "cannot take /dev/zero: it has more than 1048576 bytes", .usage),
    ])
    func `a file that cannot be taken is refused`(path: String, sentence: String, status: ExitMessage.Status) {
        #expect(Refusal.of { try ArgumentFile.bytes(path, limit: 1 << 20) } == Refusal(sentence, status))
        #expect(Refusal.of { try HeaderArgument(text: "@\(path)").headers } == Refusal(sentence, status))
    }
}
