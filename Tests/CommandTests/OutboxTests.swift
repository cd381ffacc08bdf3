import NetworkLab
import Testing

/// `reachability outbox`: all lines of its output.
@Suite struct OutboxTests {
    @Test func `requests are stored, listed and deleted`() async throws {
        let outbox = OutboxScratch()
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
    func `a program receives the request and determines its result`(
        end: Int,
        status: CInt,
        line: String
    ) async throws {
        let outbox = OutboxScratch()
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

    @Test func `a program that cannot run is not an attempt`() async throws {
        let outbox = OutboxScratch()
        _ = try await outbox.run("add http://127.0.0.1/")
        let result = try await outbox.run("flush --with no-such-program")
        #expect(result.status == 75)
        let cause =
            "cannot run no-such-program: there is no such command in PATH; install it, or name another program with --with"
        #expect(result.output == "1: waits, \(cause)\n")
        #expect(try await outbox.run("list --json").output.contains(#""attempts":0,"#))
    }

    @Test func `an invalid request is refused, and an expired one is reported on standard error`() async throws {
        let outbox = OutboxScratch()
        let sentence = "cannot store the request: the URL does not begin with http:// or https://; its scheme is ftp"
        try await outbox.run("add ftp://x/").expectRefusal(sentence)
        _ = try await outbox.run("add --expires 1ms http://127.0.0.1:1/")
        let errors = "reachability: 1: expired, deleted unsent: POST http://127.0.0.1:1\n"
        #expect(try await outbox.run("flush") == CommandResult(status: 65, output: "", errors: errors))
    }

    @Test(arguments: ["list", "drop --all", "flush --with true"])
    func `only add creates the named outbox`(arguments: String) async throws {
        let outbox = OutboxScratch()
        for _ in 0..<2 {
            let sentence = "cannot open the outbox DIR/outbox: No such file or directory; `outbox add` creates one"
            try await outbox.run(arguments).expectRefusal(sentence, status: 66)
        }
    }

    @Test func `list does not create a missing outbox`() async throws {
        let directory = ScratchDirectory()
        let script = "cd \(directory.path) && HOME=$PWD XDG_STATE_HOME= $R outbox list && ls -A"
        let asRoot = "exec unshare --mount sh -c 'mount -t tmpfs none /var/lib && $R outbox list && ls -A /var/lib'"
        let result = try await Command.run(script: "[ $(id -u) = 0 ] && \(asRoot); \(script)")
        #expect(result == CommandResult(status: 0, output: "", errors: ""))
    }

    @Test func `a full disk loses no request`() async throws {
        let outbox = OutboxScratch()
        let script = """
            exec unshare --mount sh -c 'mount -t tmpfs -o size=200k tmpfs $0 && cd $0 || exit 99
            n=0; while m=$($R outbox add --outbox o --body /bin/true http://one.example/ 2>&1 >/dev/null); s=$?; [ $s = 0 ]
            do n=$((n+1)); done; echo "status $s"; echo "$m"
            [ $n -gt 0 ] && [ $n = $($R outbox list --json --outbox o | wc -l) ] && echo same' \(outbox.directory.path)
            """
        let result = try await Command.run(script: script)
        let sentence =
            "cannot write to the outbox o: No space left on device; nothing was changed, free space and try again"
        #expect(result.output == "status 74\nreachability: \(sentence)\nsame\n")
        _ = try await outbox.run("add http://one.example/")
        // A limit of the file size has the same effect.
        try await outbox.run("add --body /bin/sh http://one.example/", after: "ulimit -f 100;")
            .expectRefusal(sentence.replacing("outbox o:", with: "outbox DIR/outbox:"), status: 74)
        #expect(try await outbox.run("list --json").lines.count == 1)
    }

    @Test(arguments: ["list", "list --json", "drop --all", "flush --with true"])
    func `an output that cannot be written is an error`(arguments: String) async throws {
        let outbox = OutboxScratch()
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
    func `a program may leave the request unread`(program: String, status: CInt, line: String) async throws {
        let outbox = OutboxScratch()
        _ = try await outbox.run("add --body /bin/sh http://127.0.0.1/")
        let result = try await outbox.run("flush --with \(program)")
        #expect(result.status == status && result.output == line + "\n", "\(result)")
    }
}

/// Requests of `reachability outbox flush` to real servers, and the results.
@Suite struct OutboxDeliveryTests {
    private let outbox: OutboxScratch
    private let server: AnswerServer

    init() throws {
        outbox = OutboxScratch()
        server = try AnswerServer("200 OK")
    }

    @Test func `a dead letter is listed, requeued with its number and its key, and deleted`() async throws {
        server.answer("404 Not Found")
        _ = try await outbox.run("add --key order-7 \(server.url)")
        _ = try await outbox.run("add --key order-8 \(server.url)")
        let refused = try await outbox.run("flush")
        let lines = "1: dead letter, status 404\n2: dead letter, status 404\n"
        #expect(refused == CommandResult(status: 65, output: lines, errors: ""))
        let list = try await outbox.run("list --dead")
        #expect(
            list.output == """
                1: POST http://127.0.0.1:\(server.port), priority 0, 27 bytes, attempts 1, dead,
                    since TIME, key order-7, died TIME,
                    reason: status 404
                2: POST http://127.0.0.1:\(server.port), priority 0, 27 bytes, attempts 1, dead,
                    since TIME, key order-8, died TIME,
                    reason: status 404

                """
        )
        #expect(try await outbox.run("list").output == list.output)
        let idle = try await outbox.run("flush")
        let hint = "nothing to send; dead letters: 2, see `reachability outbox list`\n"
        #expect(idle == CommandResult(status: 0, output: hint, errors: ""))
        server.answer("200 OK")
        let again = try await outbox.run("requeue 1 9")
        let missing = "reachability: there is no dead letter 9\n"
        #expect(again == CommandResult(status: 1, output: "1\n", errors: missing))
        #expect(try await outbox.run("list --dead --json").lines.count == 1)
        #expect(try await outbox.run("flush").output == "1: delivered\n")
        let keys = server.requests.compactMap { $0.firstMatch(of: #/Idempotency-Key: (\w+)/#)?.1 }
        #expect(keys.count == 3 && keys[0] == keys[2] && keys[0] != keys[1])
        #expect(try await outbox.run("drop --dead") == CommandResult(status: 0, output: "2\n", errors: ""))
        #expect(try await outbox.run("list").output == "")
        #expect(try await outbox.run("flush").output == "nothing to send\n")
    }

    @Test func `a TLS server is used if its root is trusted, and is otherwise treated as a portal`() async throws {
        let server = try await TLSServer.start()
        _ = try await outbox.run("add --method GET https://127.0.0.1:\(server.port)/")
        let portal = """
            cannot verify the server's certificate; the server may be a captive portal, or its root is not trusted here
            """
        let none = "cannot start TLS: the trusted roots cannot be read"
        for (file, cause) in [("stranger.pem", portal), ("none.pem", none), ("../../../../dev/null", none)] {
            let result = try await outbox.run("flush --attempts 1", after: Self.trusting(server.directory.file(file)))
            #expect(result == CommandResult(status: 75, output: "1: waits, \(cause)\n", errors: ""))
        }
        #expect(try await outbox.run("list").output.contains("attempts 0, waiting"))
        let known = Self.trusting(server.directory.file("root.pem"))
        #expect(try await outbox.run("flush", after: known).output == "1: delivered\n")
    }

    private static func trusting(_ file: String) -> String { "SSL_CERT_FILE=\(file); export SSL_CERT_FILE;" }

    @Test func `the proxy of the environment is used except for no_proxy, and its password is not printed`()
        async throws
    {
        let proxy = try AnswerServer("403 Forbidden")
        let environment = "http_proxy=http://me:hu%73h@127.0.0.1:\(proxy.port); export http_proxy;"
        _ = try await outbox.run("add \(server.url)")
        let refused = try await outbox.run("flush", after: environment)
        let line = "1: waits, the proxy refused to connect to the server\n"
        #expect(refused == CommandResult(status: 75, output: line, errors: ""))
        let asked = try #require(proxy.requests.first).lowercased()
        #expect(asked.hasPrefix("connect 127.0.0.1:\(server.port) http/1.1\r\n"))
        #expect(asked.contains("\r\nproxy-authorization: basic bwu6ahvzaa==\r\n") && server.requests.isEmpty)
        proxy.answer("407 Proxy Authentication Required")
        let portal = "1: waits, the proxy requires authentication (status 407)\n"
        #expect(try await outbox.run("flush", after: environment).output == portal)
        let secure = try await outbox.run("flush", after: "http_proxy=https://me:hush@127.0.0.1; export http_proxy;")
        let cause = "http_proxy names a proxy that is neither http:// nor socks5://; use one of these schemes"
        #expect(secure == CommandResult(status: 75, output: "1: waits, \(cause)\n", errors: ""))
        let excepted = "\(environment) no_proxy=example.org,127.0.0.0/8; export no_proxy;"
        #expect(try await outbox.run("flush", after: excepted).output == "1: delivered\n")
        #expect(server.requests.count == 1 && proxy.requests.count == 2)
    }

    @Test func `the list fits 80 columns and sends no control characters to the terminal`() async throws {
        let key = String(repeating: "k", count: 200)
        _ = try await outbox.run(
            "add --key \(key) --priority -1000000 https://\(String(repeating: "a.", count: 100))example:8443/"
        )
        _ = try await outbox.run("add --key \"$(printf 'a\\033c\\nb')\" http://127.0.0.1:1/")
        _ = try await outbox.run("flush")
        let list = try await outbox.run("list")
        #expect(list.output.split(separator: "\n").allSatisfy { $0.utf8.count <= 80 }, "\(list.output)")
        #expect(list.output.contains(#"key a\u{1b}c\u{a}b"#))
        #expect(list.output.contains("last error: cannot connect"))
        #expect(!list.output.contains("\u{1b}"))
    }
}
