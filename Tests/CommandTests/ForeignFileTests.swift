import Testing

/// What is no outbox is neither read as one nor changed, whatever `reachability outbox` is asked to do with it.
@Suite struct ForeignFileTests {
    /// What lies under the name `outbox`, and how a shell makes it.
    enum Kind: String, CaseIterable {
        case text = "echo hello >outbox"
        case queue = "mkfifo outbox"
        case damagedHeader = """
            $R outbox add --outbox outbox http://one.example/; printf X | dd of=outbox conv=notrunc status=none
            """
    }

    private static let commands = [
        "list", "list --json", "add http://one.example/", "add --replace-corrupt http://one.example/",
        "drop --all", "flush --with true",
    ]

    @Test(arguments: [(Kind.text, false), (.queue, true), (.damagedHeader, false)])
    func `it is refused and stays as it is`(kind: Kind, isLink: Bool) async throws {
        let directory = try ScratchDirectory()
        let script = """
            cd \(directory.path) || exit 99
            { \(kind.rawValue); } >/dev/null
            \(isLink ? "mv outbox target; ln -s target outbox" : "")
            state() { find . -printf '%p %y %m %s %T@ %i %l\\n' | sort; find . -type f -exec sha256sum {} +; }
            state >/tmp/$$.before
            while read -r subcommand rest; do
                $R outbox $subcommand --outbox outbox $rest 2>&1; echo "$subcommand $?"
                state >/tmp/$$.after; diff /tmp/$$.before /tmp/$$.after
            done <<END
            \(Self.commands.joined(separator: "\n"))
            END
            rm /tmp/$$.before /tmp/$$.after
            """
        let result = try await Command.run(script: script)
        let name = isLink ? directory.path + "/target" : "outbox"
        let sentence =
            "is not an outbox, or its header is damaged: it was left as it is; name another file, or move it away"
        let expected = Self.commands.map { "reachability: \(name) \(sentence)\n\($0.prefix { $0 != " " }) 65\n" }
        #expect(result.output == expected.joined())
        #expect(result.errors == "")
    }

    @Test(.enabled(if: Tools.has("setpriv"))) func `a file that may not be read is refused`() async throws {
        let directory = try ScratchDirectory()
        let script = """
            cd \(directory.path) && chmod 777 . && echo hello >outbox && chmod 600 outbox && before=$(ls -lA --full-time)
            for words in list "add http://one.example/" "drop --all"; do
                set -- $words; subcommand=$1; shift
                setpriv --reuid 65534 --clear-groups $R outbox $subcommand --outbox outbox "$@" 2>&1; echo $?
            done
            [ "$(ls -lA --full-time)" = "$before" ] || ls -lA
            """
        let sentence = "reachability: cannot open the outbox outbox: Permission denied\n66\n"
        #expect(try await Command.run(script: script).output == String(repeating: sentence, count: 3))
    }

    @Test func `an outbox in a directory that cannot be written is listed, and cannot be changed`() async throws {
        let outbox = try OutboxScratch()
        _ = try await outbox.run("add http://one.example/")
        let script = """
            exec unshare --mount sh -c 'mount --bind $0 $0 && mount -o remount,ro,bind $0 && cd $0 || exit 99
            $R outbox list --outbox outbox | head -n 1 | cut -c 1-30; $R outbox drop --outbox outbox 1; echo $?' \(outbox.directory.path)
            """
        let result = try await Command.run(script: script)
        #expect(result.output == "1: POST http://one.example, pr\n66\n")
        #expect(result.errors == "reachability: cannot open the outbox outbox: Read-only file system\n")
    }

    @Test func `list makes nothing where there is no outbox yet`() async throws {
        let directory = try ScratchDirectory()
        let script = "cd \(directory.path) && HOME=$PWD XDG_STATE_HOME= $R outbox list && ls -A"
        let asRoot = "exec unshare --mount sh -c 'mount -t tmpfs none /var/lib && $R outbox list && ls -A /var/lib'"
        let result = try await Command.run(script: "[ $(id -u) = 0 ] && \(asRoot); \(script)")
        #expect(result == CommandResult(status: 0, output: "", errors: ""))
    }
}
