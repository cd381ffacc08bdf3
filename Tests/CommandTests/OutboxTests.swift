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
        ("add ftp://x/", "cannot store the request: the URL does not begin with http:// or https://"),
        ("add --header x http://x/", "a header has no colon: write \"Name: value\""),
        ("add --header @no-such-file http://x/", "cannot read no-such-file: No such file or directory"),
        ("add --body . http://x/", "cannot read .: Is a directory"),
        ("add --expires 0s http://x/", "cannot store the request: its expiry, 0.0 seconds, is not longer than zero"),
        ("add --expires 1w http://x/", "\"1w\" is no duration: write 500ms, 1.5s, 2m or 1h, for example"),
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
    }

    @Test func `a limit of the file's size loses nothing`() async throws {
        let outbox = try OutboxScratch()
        _ = try await outbox.run("add http://one.example/")
        let result = try await outbox.run("add --body /bin/sh http://one.example/", after: "ulimit -f 100;")
        result.expectRefusal(
            "cannot write to the outbox DIR/outbox: No space left on device: make room and try again, nothing was changed",
            status: 74
        )
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
    }

    @Test(arguments: ["curl", "/usr/bin/curl"])
    func `curl, which sent before, is not taken for a program that reads requests`(
        name: String
    ) async throws {
        let result = try await OutboxScratch().run("flush --with \(name)")
        #expect(result.status == 64 && result.errors.hasPrefix("Error: curl is not needed any more: leave --with out"))
    }

    @Test(arguments: ["--max-count 0", "--max-count -1"])
    func `no limit`(option: String) async throws {
        let result = try await OutboxScratch().run("add \(option) http://127.0.0.1/")
        #expect(result.status == 64 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: --max-count must be 1 or more.\n"))
    }

    @Test func `headers come from a file, whatever its line ends`() async throws {
        let outbox = try OutboxScratch()
        try outbox.directory.write("headers", "A: 1\r\n\r\nB: 2\n")
        try outbox.directory.write("send", "#!/bin/sh\ncat >got\n")
        let add = try await outbox.run("add --header @headers --header 'Idempotency-Key: k' http://127.0.0.1/")
        #expect(add == CommandResult(status: 0, output: "1\n", errors: ""))
        _ = try await outbox.run("flush --with ./send")
        let got = try await Command.run(script: "cat \(outbox.directory.path)/got")
        #expect(
            got.output
                == "POST http://127.0.0.1/ HTTP/1.1\r\nA: 1\r\nB: 2\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n"
        )
    }

    @Test(arguments: [("true", 0, "1: delivered"), ("false", 75, "1: not delivered, attempt 1: exit status 1")])
    func `a program need not read the request`(program: String, status: CInt, line: String) async throws {
        let outbox = try OutboxScratch()
        _ = try await outbox.run("add --body /bin/sh http://127.0.0.1/")
        let result = try await outbox.run("flush --with \(program)")
        #expect(result.status == status && result.output == line + "\n", "\(result)")
    }

    @Test func `a body that never ends is refused`() async throws {
        try await OutboxScratch().run("add --body - http://127.0.0.1/", after: "cat /dev/zero |")
            .expectRefusal("cannot take standard input: it has more than 67108864 bytes")
        try await OutboxScratch().run("add --header @/dev/zero http://127.0.0.1/")
            .expectRefusal("cannot take /dev/zero: it has more than 1048576 bytes")
    }

    @Test func `without its other program the command says what is missing`() async throws {
        let directory = try ScratchDirectory()
        let result = try await Command.run(
            script: "cp $R \(directory.path)/reachability; \(directory.path)/reachability outbox list"
        )
        let path = directory.file("reachability-outbox")
        result.expectRefusal(
            "cannot run \(path): No such file or directory: install it beside reachability",
            status: 69
        )
    }

    @Test func `a reader that goes away is no failure`() async throws {
        let outbox = try OutboxScratch()
        let script = "for i in 1 2 3; do $R outbox add --outbox \(outbox.file) http://one.example/ >/dev/null; done"
        let result = try await Command.run(script: "\(script); $R outbox list --outbox \(outbox.file) | true; echo $?")
        #expect(result == CommandResult(status: 0, output: "0\n", errors: ""))
    }
}
