import Testing

/// What is no outbox is neither read as one nor changed, whatever `reachability outbox` is asked to do with it.
@Suite struct ForeignFileTests {
    /// What lies under the name `outbox`, and how a shell makes it.
    enum Kind: String, CaseIterable {
        case text = "echo hello >outbox"
        case passwords = "cp /etc/passwd outbox; chmod 644 outbox"
        case database = "sqlite3 outbox 'CREATE TABLE request (id); INSERT INTO request VALUES (1)'; chmod 640 outbox"
        case databaseWithLog = """
            printf '.dbconfig no_ckpt_on_close on\\nPRAGMA journal_mode = wal;\\nCREATE TABLE t (x);\\n' | sqlite3 outbox
            [ -s outbox-wal ] || exit 99
            """
        case databaseOfAnother = "sqlite3 outbox 'PRAGMA application_id = 252006673; CREATE TABLE t (x)'"
        case empty = ": >outbox"
        case directory = "mkdir outbox"
        case queue = "mkfifo outbox"
        case device = "mknod outbox c 1 3"
        case damagedHeader = """
            $R outbox add --outbox outbox http://one.example/; printf X | dd of=outbox conv=notrunc status=none
            """
    }

    private static let commands = [
        "list", "list --json", "add http://one.example/", "add --replace-corrupt http://one.example/",
        "drop --all", "flush --with true",
    ]

    @Test(.enabled(if: Tools.has("sqlite3")), arguments: Kind.allCases, [false, true])
    func `it is refused and stays as it is`(kind: Kind, isLink: Bool) async throws {
        let directory = try ScratchDirectory()
        let script = """
            cd \(directory.path) || exit 99
            { \(kind.rawValue); } >/dev/null
            \(isLink ? "mv outbox target; for s in -wal -shm .lock; do [ ! -e outbox$s ] || mv outbox$s target$s; done; ln -s target outbox" : "")
            state() { find . -printf '%p %y %m %s %T@ %i %l\\n' | sort; find . -type f -exec sha256sum {} +; }
            state >/tmp/$$.before
            while read -r subcommand rest; do
                timeout 60 $R outbox $subcommand --outbox outbox $rest 2>&1; echo "$subcommand $?"
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

    @Test(.enabled(if: Tools.has("setpriv")), arguments: commands)
    func `a file that may not be read is refused`(command: String) async throws {
        let directory = try ScratchDirectory()
        let words = command.split(separator: " ", maxSplits: 1)
        let script = """
            cd \(directory.path) && chmod 777 . && echo hello >outbox && chmod 600 outbox && before=$(ls -lA --full-time)
            setpriv --reuid 65534 --clear-groups $R outbox \(words[0]) --outbox outbox \(words.dropFirst().joined())
            echo $?; [ "$(ls -lA --full-time)" = "$before" ] || ls -lA
            """
        let result = try await Command.run(script: script)
        #expect(result.output == "66\n")
        #expect(result.errors == "reachability: cannot open the outbox outbox: Permission denied\n")
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
