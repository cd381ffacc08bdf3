import NetworkLab
import Testing

/// What every subcommand has in common, whichever there are.
@Suite struct ShapeTests {
    @Test func `every subcommand is on the list of those tested`() async throws {
        let names = try await CommandTree.subcommands().map(\.name)
        #expect(Set(Subcommand.all.map(\.name)) == Set(names), "a new subcommand needs a line in Subcommand.all")
    }

    @Test func `help shows two examples, which the command understands`() async throws {
        for command in [try await CommandTree.read()] + (try await CommandTree.subcommands()) {
            let examples = try #require(command.paragraph("Examples: "), "\(command.name) shows no examples")
            // The root has so many subcommands that both stand on one line.
            let lines = examples.split { $0 == "\n" || $0 == ";" }
            #expect(lines.count == 2, "\(command.name)")
            for line in lines { #expect(line.contains("reachability "), "\(line)") }
        }
    }

    @Test func `help tells each exit status that is documented, and no other`() async throws {
        let document = try CommandDocument()
        for command in try await CommandTree.subcommands() {
            let told = try #require(command.paragraph("Exit status: "), "\(command.name) tells no exit status")
            let documented = try document.keys("Exit status", of: command.name).compactMap { Int($0) }
            #expect(
                Set(told.matches(of: #/\b\d+\b/#).compactMap { Int($0.output) }) == Set(documented),
                "\(command.name)"
            )
            // Each subcommand has a page with its output.
            #expect(try document.page(of: command.name).contains("<!-- capture"))
        }
    }

    @Test func `every option that takes a duration refuses what is none in the same words`() async throws {
        for command in try await CommandTree.subcommands() {
            let arguments = Subcommand.all.first { $0.name == command.name }?.arguments ?? []
            for option in command.arguments ?? [] where option.valueName == "duration" {
                let name = try #require(option.option)
                // Both texts look like options. ArgumentTests covers the other texts.
                for text in ["-1s", "--json"] {
                    try await Command.run(command.path + [name, text] + arguments)
                        .expectRefusal("\"\(text)\" is no duration: write 500ms, 1.5s, 2m or 1h, for example")
                }
            }
        }
    }

    @Test func `the name of a network namespace is completed`() async throws {
        let name = try await NamedNamespace.make()
        for command in try await CommandTree.subcommands()
        where command.arguments?.contains(where: { $0.option == "--netns" }) == true {
            let arguments = ["---completion"] + command.path + ["--", "--netns", "2", "0", ""]
            let result = try await Command.run(arguments)
            #expect(result.status == 0)
            #expect(result.lines.contains { $0 == name.name })
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `there are completions that their shell can read`(shell: String) async throws {
        let result = try await Command.run(["--generate-completion-script", shell])
        #expect(result.status == 0)
        let options = ["drop-oldest", "replace-corrupt"]
        for word in Subcommand.all.flatMap(\.words) + options { #expect(result.output.contains(word)) }
        guard Tools.has(shell) else { return }
        #expect(
            try await Command.run(script: "$R --generate-completion-script \(shell) | \(shell) -n /dev/stdin")
                == CommandResult(status: 0, output: "", errors: "")
        )
    }
}
