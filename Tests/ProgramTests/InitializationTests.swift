import CommandLineSupport
import LinuxSupport
import ReachabilityService
import Testing
import TrustForge

@testable import reachability_tools

/// `reachability serve --init`.
@Suite struct InitializationTests {
    private func make(_ arguments: [String], _ answers: [String?], _ asked: Locked<[String]>) throws -> Initialization {
        let rest = Locked(answers)
        return Initialization(
            arguments: try ServeArguments.parse(["--init"] + arguments),
            ask: { question in
                asked.withLock { $0.append(question) }
                return rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            },
            traffic: { ["192.0.2.1: an echo, at most 4 packets"] }
        )
    }

    @Test func `the answers to three questions become a valid configuration`() throws {
        let (directory, asked) = (ScratchDirectory(), Locked<[String]>([]))
        let file = directory.path + "/new/serve.toml"
        try make(["--config", file], ["y", "https://example.org/204", "https://ntfy.example.org/a"], asked).run()
        #expect(asked.withLock(\.count) == 3)
        #expect(asked.withLock { $0[0].contains("192.0.2.1: an echo, at most 4 packets") })
        let configuration = try ServiceConfiguration(try #require(TextFile.read(file)))
        #expect(configuration.targets.map(\.name) == ["internet"])
        #expect(configuration.targets[0].checks != nil)
        #expect(
            configuration.notifiers.map(\.channel)
                == [.webhook(WebhookSettings(url: "https://ntfy.example.org/a", format: .ntfy))]
        )
        let refusal = Refusal.of { try make(["--config", file], [], asked).run() }
        #expect(refusal == Refusal("cannot write \(file): File exists; name another file with --config", .cantCreate))
    }

    @Test func `without answers nothing is checked`() throws {
        let asked = Locked<[String]>([])
        let answers = try make([], [], asked).answers()
        #expect(answers == Initialization.Answers())
        let configuration = try ServiceConfiguration(Initialization.text(answers))
        #expect(configuration.targets.allSatisfy { $0.checks == nil })
        #expect(configuration.notifiers.map(\.channel) == [.journal])
    }

    @Test(arguments: [(["maybe", "Yes"], true), (["yess", "no"], false), ([""], false)])
    func `a question of yes or no is repeated until the answer is one of them`(
        answers: [String],
        expected: Bool
    ) throws {
        let asked = Locked<[String]>([])
        let options = ["--anchor", "https://a.example/", "--alert", "ops@example.org"]
        #expect(try make(options, answers, asked).answers().checksLine == expected)
        #expect(asked.withLock(\.count) == answers.count)
    }

    @Test func `options replace the questions`() throws {
        let asked = Locked<[String]>([])
        let arguments = ["--line", "--anchor", "https://a.example/", "--alert", "ops@example.org"]
        let answers = try make(arguments, [], asked).answers()
        #expect(asked.withLock(\.isEmpty))
        let configuration = try ServiceConfiguration(Initialization.text(answers))
        #expect(configuration.notifiers.map(\.channel) == [.mail(MailSettings(recipients: ["ops@example.org"]))])
    }

    @Test(arguments: ["a\"b\\c\u{1}", "no address", "ftp://x"])
    func `an answer cannot break the syntax, and a wrong one is refused`(text: String) throws {
        let (directory, asked) = (ScratchDirectory(), Locked<[String]>([]))
        let file = directory.path + "/serve.toml"
        let refusal = Refusal.of { try make(["--config", file, "--alert", text], [], asked).run() }
        #expect(refusal?.status == .usage)
        #expect(TextFile.read(file) == nil)
    }
}
