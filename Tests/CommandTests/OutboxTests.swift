import Testing

/// `reachability outbox`: every line it writes.
@Suite struct OutboxTests {
    @Test func `requests go in, are listed, and are dropped`() async throws {
        let outbox = try OutboxScratch()
        let add = try await outbox.run("add --key a --header 'Authorization: hush' https://one.example/hush?token=hush")
        #expect(add == CommandResult(status: 0, output: "1\n", errors: ""))
        let again = try await outbox.run("add --key a https://one.example/")
        #expect(again == CommandResult(status: 0, output: "1 (already waiting)\n", errors: ""))
        let body = try await outbox.run(
            "add --method PUT --body - --priority 2 --expires 60m http://[::1]:8080/",
            after: "printf 'a\\0b' |"
        )
        #expect(body == CommandResult(status: 0, output: "2\n", errors: ""))
        let text = """
            2: PUT http://[::1]:8080, priority 2, 24 bytes, attempts 0, waiting,
                since TIME, expires TIME
            1: POST https://one.example, priority 0, 56 bytes, attempts 0, waiting,
                since TIME, key a, expires TIME

            """
        #expect(try await outbox.run("list") == CommandResult(status: 0, output: text, errors: ""))
        let json = """
            {"schema":1,"id":2,"state":"waiting","method":"PUT","origin":"http://[::1]:8080","priority":2,"bytes":24,\
            "attempts":0,"key":null,"enqueued":"TIME","expires":"TIME","notBefore":null,"nextTry":null,"lastError":null,\
            "died":null,"kind":"request"}
            {"schema":1,"id":1,"state":"waiting","method":"POST","origin":"https://one.example","priority":0,"bytes":56,\
            "attempts":0,"key":"a","enqueued":"TIME","expires":"TIME","notBefore":null,"nextTry":null,"lastError":null,\
            "died":null,"kind":"request"}

            """
        #expect(try await outbox.run("list --json") == CommandResult(status: 0, output: json, errors: ""))
        let drop = try await outbox.run("drop 2 7")
        #expect(drop == CommandResult(status: 1, output: "2\n", errors: "reachability: there is no request 7\n"))
        #expect(try await outbox.run("drop --all") == CommandResult(status: 0, output: "1\n", errors: ""))
        #expect(try await outbox.run("list") == CommandResult(status: 0, output: "", errors: ""))
    }

    @Test(arguments: [
        (0, 0, "1: delivered"), (65, 65, "1: dead letter, exit status 65"),
        (1, 75, "1: not delivered, attempt 1: exit status 1"),
    ])
    func `a program gets the request and says what came of it`(
        end: Int,
        status: CInt,
        line: String
    ) async throws {
        let outbox = try OutboxScratch()
        try outbox.directory.write("send", "#!/bin/sh\ncat >got\nexit \(end)\n")
        _ = try await outbox.run(
            "add --header 'Idempotency-Key: k' --body - http://127.0.0.1/x",
            after: "printf hello |"
        )
        let result = try await outbox.run("flush --with ./send")
        #expect(result == CommandResult(status: status, output: line + "\n", errors: ""))
        let got = try await Command.run(script: "cat \(outbox.directory.path)/got")
        #expect(
            got.output
                == "POST http://127.0.0.1/x HTTP/1.1\r\nIdempotency-Key: k\r\nContent-Length: 5\r\n\r\nhello"
        )
    }

    @Test func `what cannot be run is no fault of the request`() async throws {
        let outbox = try OutboxScratch()
        _ = try await outbox.run("add http://127.0.0.1/")
        let result = try await outbox.run("flush --with no-such-program")
        #expect(result.status == 75)
        let cause =
            "cannot run no-such-program: PATH has no such command; install it, or name another program with --with"
        #expect(result.output == "1: waits, \(cause)\n")
        #expect(try await outbox.run("list --json").output.contains(#""attempts":0,"#))
    }

    @Test(arguments: [
        (
            "add ftp://x/",
            "cannot store the request: the URL does not begin with http:// or https://: its scheme is ftp"
        ),
        ("add --header @no-such-file http://x/", "cannot read no-such-file: No such file or directory"),
        ("add --expires 0s http://x/", "cannot store the request: its expiry, 0.0 seconds, is not longer than zero"),
        (
            "add --header 'Content-Length: 3' http://x/",
            "cannot store the request: the header Content-Length is the sender's: it follows from the URL and the body"
        ),
        ("add --body - http://127.0.0.1/ </dev/zero", "cannot take standard input: it has more than 67108864 bytes"),
    ])
    func `what is refused`(arguments: String, sentence: String) async throws {
        let status: CInt = sentence.hasPrefix("cannot read") ? 66 : 64
        try await OutboxScratch().run(arguments).expectRefusal(sentence, status: status)
    }

    @Test(arguments: ["list", "drop --all", "flush --with true"])
    func `only add makes the outbox that is named`(arguments: String) async throws {
        let outbox = try OutboxScratch()
        for _ in 0..<2 {
            let sentence = "cannot open the outbox DIR/outbox: No such file or directory; `outbox add` makes one"
            try await outbox.run(arguments).expectRefusal(sentence, status: 66)
        }
    }

    @Test func `a full outbox, and one that makes room`() async throws {
        let outbox = try OutboxScratch()
        _ = try await outbox.run("add --max-count 1 http://one.example/")
        try await outbox.run("add --max-count 1 http://one.example/").expectRefusal(
            "the outbox DIR/outbox is full (1 of 1 requests): send or drop what is in it, or allow more",
            status: 75
        )
        let result = try await outbox.run("add --max-count 1 --drop-oldest http://one.example/")
        let told = "reachability: 1: deleted unsent to make room: POST http://one.example\n"
        #expect(result == CommandResult(status: 0, output: "2\n", errors: told))
    }

    @Test func `a full disk loses nothing`() async throws {
        let outbox = try OutboxScratch()
        let script = """
            exec unshare --mount sh -c 'mount -t tmpfs -o size=200k tmpfs $0 && cd $0 || exit 99
            n=0; while m=$($R outbox add --outbox o --body /bin/true http://one.example/ 2>&1 >/dev/null); s=$?; [ $s = 0 ]
            do n=$((n+1)); done; echo "status $s"; echo "$m"
            [ $n -gt 0 ] && [ $n = $($R outbox list --json --outbox o | wc -l) ] && echo same' \(outbox.directory.path)
            """
        let result = try await Command.run(script: script)
        let sentence =
            "cannot write to the outbox o: No space left on device: make room and try again, nothing was changed"
        #expect(result.output == "status 74\nreachability: \(sentence)\nsame\n")
        _ = try await outbox.run("add http://one.example/")
        // A limit of the file size has the same effect.
        try await outbox.run("add --body /bin/sh http://one.example/", after: "ulimit -f 100;")
            .expectRefusal(sentence.replacing("outbox o:", with: "outbox DIR/outbox:"), status: 74)
        #expect(try await outbox.run("list --json").lines.count == 1)
    }

    @Test(arguments: ["list", "list --json", "drop --all", "flush --with true"])
    func `an output that cannot be written is an error`(arguments: String) async throws {
        let outbox = try OutboxScratch()
        for (output, cause) in [("> /dev/full", "No space left on device"), (">&-", "Bad file descriptor")] {
            _ = try await outbox.run("add http://127.0.0.1/")
            try await outbox.run("\(arguments) \(output)")
                .expectRefusal("cannot write to standard output: \(cause)", status: 74)
        }
        _ = try await outbox.run("add http://127.0.0.1/")
        let words = arguments.split(separator: " ", maxSplits: 1)
        let command = "$R outbox \(words[0]) --outbox \(outbox.file) \(words.dropFirst().joined())"
        #expect(try await Command.run(script: "{ \(command); echo $? >&2; } | true").errors == "0\n")
    }

    @Test(arguments: [("true", 0, "1: delivered"), ("false", 75, "1: not delivered, attempt 1: exit status 1")])
    func `a program need not read the request`(program: String, status: CInt, line: String) async throws {
        let outbox = try OutboxScratch()
        _ = try await outbox.run("add --body /bin/sh http://127.0.0.1/")
        let result = try await outbox.run("flush --with \(program)")
        #expect(result.status == status && result.output == line + "\n", "\(result)")
    }
}
